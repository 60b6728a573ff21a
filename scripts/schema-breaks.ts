import { isDeepStrictEqual } from 'node:util';

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Use of a schema. A new request schema must accept all old requests. A new response schema must allow only responses
 * that the old schema allows.
 */
export type Direction = 'request' | 'reply';

/** Old and new OpenAPI document. The references in a document are resolved within the same document. */
export interface Documents {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** Old and new schema, with their location in the documents. */
interface Pair {
  readonly place: string;
  readonly direction: Direction;
  readonly before: unknown;
  readonly after: unknown;
}

/** Compares two schemas. Returns a line for each breaking change, with its location. */
export type CompareSchemas = (pair: Pair) => readonly string[];

/** Creates a function that compares schemas of two documents. Circular references are supported. */
export function createComparison(documents: Documents): CompareSchemas {
  /** Pairs of references (`$ref`) whose comparison is in progress or found no breaking change. */
  const visited = new Set<string>();
  const compare: CompareSchemas = (pair) => {
    const key = keyOf(pair);
    if (key === null) return compareAlternatives(pair, { documents, compare });
    if (visited.has(key)) return [];
    visited.add(key);
    const breaks = compareAlternatives(pair, { documents, compare });
    // Breaking changes are reported at each use of the reference.
    if (breaks.length > 0) visited.delete(key);
    return breaks;
  };
  return compare;
}

function keyOf({ before, after, direction }: Pair): string | null {
  const names = [before, after].map((one) => asObject(one).$ref);
  return names.some((name) => typeof name === 'string') ? `${direction} ${names.join(' ')}` : null;
}

interface Context {
  readonly documents: Documents;
  readonly compare: CompareSchemas;
}

function compareAlternatives(pair: Pair, context: Context): readonly string[] {
  const { documents } = context;
  const before = listAlternatives(documents.before, pair.before);
  const after = listAlternatives(documents.after, pair.after);
  const changed = compareDefaults(pair, documents);
  const [first] = before;
  const [second] = after;
  if (before.length === 1 && after.length === 1 && first !== undefined && second !== undefined) {
    return [
      ...changed,
      ...compareOne(
        {
          ...pair,
          before: resolve(documents.before, first),
          after: resolve(documents.after, second),
        },
        context,
      ),
    ];
  }
  return [...changed, ...compareUnions(pair, { before, after }, context)];
}

/**
 * Returns the alternatives of a schema: the members of a union, or one schema for each listed type. References are not
 * resolved, so that callers can detect circular references.
 */
function listAlternatives(document: JsonObject, schema: unknown): readonly JsonObject[] {
  const one = resolve(document, schema);
  const union = one.anyOf ?? one.oneOf;
  if (Array.isArray(union)) return union.flatMap((member) => listAlternatives(document, member));
  if (Array.isArray(one.type)) return one.type.map((type) => ({ ...one, type }));
  return [asObject(schema)];
}

function compareDefaults({ place, before, after }: Pair, documents: Documents): readonly string[] {
  const old = resolve(documents.before, before);
  const now = resolve(documents.after, after);
  if (!Object.hasOwn(old, 'default') || isDeepStrictEqual(old.default, now.default)) return [];
  return [`${place}: the default ${show(old.default)} became ${show(now.default)}`];
}

interface Alternatives {
  readonly before: readonly JsonObject[];
  readonly after: readonly JsonObject[];
}

/**
 * Returns a line for each alternative that was removed from a union. In responses, also returns a
 * line for each new alternative that has no constant `type` by which clients can recognize it.
 */
function compareUnions(
  { place, direction }: Pair,
  { before, after }: Alternatives,
  { documents, compare }: Context,
): readonly string[] {
  const isCompatible = (old: JsonObject, now: JsonObject) =>
    compare({ place, direction, before: old, after: now }).length === 0;
  const removed = before
    .filter((old) => !after.some((now) => isCompatible(old, now)))
    .filter((old) => direction === 'request' || !isNull(old))
    .map((old) => `${place}: ${show(old)} is no longer an alternative`);
  const added = after
    .filter((now) => direction === 'reply' && !before.some((old) => isCompatible(old, now)))
    .filter((now) => constantType(resolve(documents.after, now)) === undefined)
    .map((now) => `${place}: ${show(now)} is a new alternative of a response`);
  return [...removed, ...added];
}

/** Returns whether a schema allows only `null`. Responses may drop `null` without breaking clients. */
function isNull({ type }: JsonObject): boolean {
  return type === 'null';
}

function constantType({ properties }: JsonObject): unknown {
  return asObject(asObject(properties).type).const;
}

function compareOne(pair: OnePair, context: Context): readonly string[] {
  return [
    ...compareTypes(pair),
    ...compareValues(pair),
    ...compareForms(pair),
    ...compareLimits(pair),
    ...compareMembers(pair, context),
    ...compareItems(pair, context),
    ...compareOthers(pair),
  ];
}

interface OnePair extends Pair {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

function compareTypes({ place, direction, before, after }: OnePair): readonly string[] {
  const [wide, narrow] = direction === 'request' ? [after, before] : [before, after];
  if (wide.type === undefined || wide.type === narrow.type) return [];
  if (wide.type === 'number' && narrow.type === 'integer') return [];
  return [`${place}: the type ${show(before.type)} became ${show(after.type)}`];
}

/**
 * Returns a line for each removed value of an enumeration. In responses, also returns a line for
 * each value that was added to an enumeration not marked as extensible.
 */
function compareValues(pair: OnePair): readonly string[] {
  const { place, direction, before, after } = pair;
  const old = valuesOf(before);
  const now = valuesOf(after);
  const lost = old?.values.filter((value) => now !== null && !includes(now.values, value)) ?? [];
  const added = now?.values.filter((value) => old !== null && !includes(old.values, value)) ?? [];
  const isClosed = old?.isOpen === false;
  return [
    ...lost.map((value) => `${place}: the value ${show(value)} was removed`),
    ...(direction === 'reply' && isClosed
      ? added.map((value) => `${place}: the value ${show(value)} is new in a closed set`)
      : []),
    ...compareOpenness(pair, { old, now }),
  ];
}

interface Values {
  readonly values: readonly unknown[];
  readonly isOpen: boolean;
}

function compareOpenness(
  { place, direction }: OnePair,
  { old, now }: { readonly old: Values | null; readonly now: Values | null },
): readonly string[] {
  const isFree = (set: Values | null) => set === null || set.isOpen;
  if (direction === 'request' && isFree(old) && !isFree(now)) {
    return [`${place}: now accepts only listed values`];
  }
  if (direction === 'reply' && !isFree(old) && isFree(now)) {
    return [`${place}: the set of values was closed and is now open`];
  }
  return old !== null && now === null && old.isOpen
    ? [`${place}: the known values are no longer listed`]
    : [];
}

function valuesOf(schema: JsonObject): Values | null {
  if (Object.hasOwn(schema, 'const')) return { values: [schema.const], isOpen: false };
  if (Array.isArray(schema.enum)) return { values: schema.enum, isOpen: false };
  const known = schema['x-extensible-enum'];
  return Array.isArray(known) ? { values: known, isOpen: true } : null;
}

/** Keywords for the format of a string. A changed value counts as breaking, because it may allow different strings. */
const formatKeywords = ['format', 'pattern', 'contentEncoding', 'contentMediaType'];

function compareForms({ place, direction, before, after }: OnePair): readonly string[] {
  return formatKeywords.flatMap((name) => {
    const [old, now] = [before[name], after[name]];
    const isFree = direction === 'request' ? now === undefined : old === undefined;
    if (old === now || isFree) return [];
    return [`${place}: the ${name} ${show(old)} became ${show(now)}`];
  });
}

/**
 * Schema keywords that limit values, such as `maximum`. `up`: a higher number allows more values.
 * `down`: a lower number allows more values.
 */
const limits = {
  maximum: 'up',
  exclusiveMaximum: 'up',
  maxLength: 'up',
  maxItems: 'up',
  maxProperties: 'up',
  minimum: 'down',
  exclusiveMinimum: 'down',
  minLength: 'down',
  minItems: 'down',
  minProperties: 'down',
} as const;

function compareLimits({ place, direction, before, after }: OnePair): readonly string[] {
  return Object.entries(limits)
    .filter(([name, way]) => {
      const change = widthOf(after[name], way) - widthOf(before[name], way);
      return direction === 'request' ? change < 0 : change > 0;
    })
    .map(([name]) => `${place}: ${name} was ${show(before[name])} and is ${show(after[name])}`);
}

/**
 * Converts the value of a limit keyword, such as `maxLength`, to a number that grows with the number of allowed
 * values. `way`: `up` if a higher limit allows more values, `down` if a lower limit does. Returns `Number.MAX_VALUE`
 * if `limit` is `undefined`, which means no limit.
 */
function widthOf(limit: unknown, way: 'up' | 'down'): number {
  if (limit === undefined) return Number.MAX_VALUE;
  return way === 'up' ? Number(limit) : -Number(limit);
}

function compareMembers(pair: OnePair, { compare }: Context): readonly string[] {
  const { place, direction, before, after } = pair;
  const old = asObject(before.properties);
  const now = asObject(after.properties);
  const required = requiredOf(before);
  const needed = requiredOf(after);
  const names = Object.keys(old);
  return [
    ...names.filter((name) => !(name in now)).map((name) => `${place}.${name}: was removed`),
    ...(direction === 'request' ? needed.filter((name) => !required.includes(name)) : []).map(
      (name) => `${place}.${name}: is now required`,
    ),
    ...(direction === 'reply' ? required.filter((name) => !needed.includes(name)) : []).map(
      (name) => `${place}.${name}: was required and is now optional`,
    ),
    ...names
      .filter((name) => name in now)
      .flatMap((name) =>
        compare({ place: `${place}.${name}`, direction, before: old[name], after: now[name] }),
      ),
    ...compareRest(pair, compare),
  ];
}

function compareRest(
  { place, direction, before, after }: OnePair,
  compare: CompareSchemas,
): readonly string[] {
  const [old, now] = [before.additionalProperties, after.additionalProperties];
  if (direction === 'request' && old !== false && now === false) {
    return [`${place}: now rejects properties that are not listed`];
  }
  if (typeof old !== 'object' || old === null) return [];
  return compare({ place: `${place}.*`, direction, before: old, after: now ?? {} });
}

function compareItems(pair: OnePair, { compare }: Context): readonly string[] {
  const { place, direction, before, after } = pair;
  if (before.items === undefined && after.items === undefined) return [];
  return compare({
    place: `${place}[]`,
    direction,
    before: before.items ?? {},
    after: after.items ?? {},
  });
}

/**
 * Schema keywords that `compareOthers` ignores, because other functions compare them, or because
 * they do not restrict values.
 */
const known = new Set([
  ...['type', 'enum', 'const', 'default', 'properties', 'required', 'additionalProperties'],
  ...['items', 'anyOf', 'oneOf', 'title', 'description', 'examples', 'example', 'deprecated'],
  ...['$comment', 'readOnly', 'writeOnly', ...formatKeywords, ...Object.keys(limits)],
]);

/**
 * Returns a line for each changed keyword that no other function compares. Ignores keywords that
 * start with `x-`, and keywords that do not restrict values.
 */
function compareOthers({ place, before, after }: OnePair): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => !known.has(name) && !name.startsWith('x-'))
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .map((name) => `${place}: ${name} was ${show(before[name])} and is ${show(after[name])}`);
}

/** Resolves a `$ref` within its document (RFC 6901). Returns objects without a `$ref` unchanged. */
export function resolve(document: JsonObject, value: unknown): JsonObject {
  const { $ref: reference, ...siblings } = asObject(value);
  if (typeof reference !== 'string') return asObject(value);
  const steps = reference.replace(/^#\//, '').split('/');
  const found = steps.reduce<unknown>(
    (at, step) => asObject(at)[step.replaceAll('~1', '/').replaceAll('~0', '~')],
    document,
  );
  return { ...resolve(document, found), ...siblings };
}

/** Returns a value if it is an object, or else an empty object. */
export function asObject(value: unknown): JsonObject {
  // The condition excludes null and arrays.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : {};
}

function requiredOf({ required }: JsonObject): readonly string[] {
  return Array.isArray(required) ? required : [];
}

function includes(values: readonly unknown[], value: unknown): boolean {
  return values.some((one) => isDeepStrictEqual(one, value));
}

/** Returns a value as JSON, cut to 80 characters. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
