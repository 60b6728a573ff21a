import { isDeepStrictEqual } from 'node:util';

/** A JSON value that is an object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Which way a schema is used: what callers send has to be taken as before, what they get has to be
 * as it was promised.
 */
export type Direction = 'request' | 'reply';

/** A document before and after, to look up references in. */
export interface Documents {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** Two schemas that stand at one place. */
interface Pair {
  readonly place: string;
  readonly direction: Direction;
  readonly before: unknown;
  readonly after: unknown;
}

/** Gives what breaks callers between two schemas, a line each: the place, and what happened to it. */
export type CompareSchemas = (pair: Pair) => readonly string[];

/** Creates the comparison of the schemas of two documents. References that lead round in a circle end. */
export function createComparison(documents: Documents): CompareSchemas {
  /** References that are being compared, or that were and broke nothing. */
  const settled = new Set<string>();
  const compare: CompareSchemas = (pair) => {
    const key = keyOf(pair);
    if (key === null) return compareAlternatives(pair, { documents, compare });
    if (settled.has(key)) return [];
    settled.add(key);
    const breaks = compareAlternatives(pair, { documents, compare });
    // What breaks is told wherever it is used.
    if (breaks.length > 0) settled.delete(key);
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
 * Gives the schemas of which a value has to fit one: members of a union, and types of a list. A
 * reference stays one, so that it is known again where it leads round in a circle.
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
 * Each alternative has to stay. A reply may get one more only where a constant `type` tells it apart,
 * as the introduction of the document says.
 */
function compareUnions(
  { place, direction }: Pair,
  { before, after }: Alternatives,
  { documents, compare }: Context,
): readonly string[] {
  const fits = (old: JsonObject, now: JsonObject) =>
    compare({ place, direction, before: old, after: now }).length === 0;
  const gone = before
    .filter((old) => !after.some((now) => fits(old, now)))
    .filter((old) => direction === 'request' || !isNull(old))
    .map((old) => `${place}: ${show(old)} is no alternative any more`);
  const added = after
    .filter((now) => direction === 'reply' && !before.some((old) => fits(old, now)))
    .filter((now) => constantType(resolve(documents.after, now)) === undefined)
    .map((now) => `${place}: ${show(now)} is a new alternative of a reply`);
  return [...gone, ...added];
}

/** A reply that is never null any more surprises nobody. */
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

/** Values of requests may be added. In replies only those of an open set may: clients ignore the rest. */
function compareValues(pair: OnePair): readonly string[] {
  const { place, direction, before, after } = pair;
  const old = valuesOf(before);
  const now = valuesOf(after);
  const lost = old?.values.filter((value) => now !== null && !includes(now.values, value)) ?? [];
  const added = now?.values.filter((value) => old !== null && !includes(old.values, value)) ?? [];
  const isClosed = old?.isOpen === false;
  return [
    ...lost.map((value) => `${place}: the value ${show(value)} is gone`),
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
    return [`${place}: only listed values are taken now`];
  }
  if (direction === 'reply' && !isFree(old) && isFree(now)) {
    return [`${place}: the set of values was closed and is open now`];
  }
  return old !== null && now === null && old.isOpen
    ? [`${place}: the known values are not told any more`]
    : [];
}

function valuesOf(schema: JsonObject): Values | null {
  if (Object.hasOwn(schema, 'const')) return { values: [schema.const], isOpen: false };
  if (Array.isArray(schema.enum)) return { values: schema.enum, isOpen: false };
  const known = schema['x-extensible-enum'];
  return Array.isArray(known) ? { values: known, isOpen: true } : null;
}

/** What says how text is written. Nobody can tell whether one pattern allows more than another. */
const forms = ['format', 'pattern', 'contentEncoding', 'contentMediaType'];

function compareForms({ place, direction, before, after }: OnePair): readonly string[] {
  return forms.flatMap((name) => {
    const [old, now] = [before[name], after[name]];
    const isFree = direction === 'request' ? now === undefined : old === undefined;
    if (old === now || isFree) return [];
    return [`${place}: the ${name} ${show(old)} became ${show(now)}`];
  });
}

/** Limits, and whether the larger number is the wider one. */
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

/** Gives how much a limit lets through, as a number that grows with it; none lets everything through. */
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
    ...names.filter((name) => !(name in now)).map((name) => `${place}.${name}: is gone`),
    ...(direction === 'request' ? needed.filter((name) => !required.includes(name)) : []).map(
      (name) => `${place}.${name}: is required now`,
    ),
    ...(direction === 'reply' ? required.filter((name) => !needed.includes(name)) : []).map(
      (name) => `${place}.${name}: was always there and is optional now`,
    ),
    ...names
      .filter((name) => name in now)
      .flatMap((name) =>
        compare({ place: `${place}.${name}`, direction, before: old[name], after: now[name] }),
      ),
    ...compareRest(pair, compare),
  ];
}

/** Members that have no name of their own. */
function compareRest(
  { place, direction, before, after }: OnePair,
  compare: CompareSchemas,
): readonly string[] {
  const [old, now] = [before.additionalProperties, after.additionalProperties];
  if (direction === 'request' && old !== false && now === false) {
    return [`${place}: members that are not listed are refused now`];
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

/** What is compared above, or says nothing of values. */
const known = new Set([
  ...['type', 'enum', 'const', 'default', 'properties', 'required', 'additionalProperties'],
  ...['items', 'anyOf', 'oneOf', 'title', 'description', 'examples', 'example', 'deprecated'],
  ...['$comment', 'readOnly', 'writeOnly', ...forms, ...Object.keys(limits)],
]);

/** A keyword that nothing here knows may not change at all. */
function compareOthers({ place, before, after }: OnePair): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => !known.has(name) && !name.startsWith('x-'))
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .map((name) => `${place}: ${name} was ${show(before[name])} and is ${show(after[name])}`);
}

/** Follows a reference within its document (RFC 6901); anything else is given as it is. */
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

/** Gives a value where it is an object; an empty one where it is none. */
export function asObject(value: unknown): JsonObject {
  // An object that is no array has names.
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

/** Shows a value in at most 80 characters. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
