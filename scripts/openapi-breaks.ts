import { isDeepStrictEqual } from 'node:util';
import {
  asObject,
  type CompareSchemas,
  createComparison,
  type Direction,
  type Documents,
  type JsonObject,
  resolve,
  show,
} from './schema-breaks.ts';

/**
 * Compares two OpenAPI descriptions. Returns a line for each change that breaks existing clients, with
 * its location. Additions do not break clients.
 *
 * @param nowMs Current time in Unix milliseconds. Operations may be removed after their sunset.
 */
export function listBreaks(documents: Documents, nowMs: number): readonly string[] {
  const context = { documents, compare: createComparison(documents) };
  return [
    ...comparePaths(context, listSunset(documents.before, nowMs)),
    ...compareCodes(documents),
    ...compareLifecycles(documents),
    ...compareNames('security scheme', documents, ({ components }) =>
      asObject(asObject(components).securitySchemes),
    ),
    ...compareNames('allowance', documents, (one) => asObject(one['x-rate-limit-policies'])),
  ];
}

interface Context {
  readonly documents: Documents;
  readonly compare: CompareSchemas;
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

interface Operation {
  readonly place: string;
  readonly id: unknown;
  readonly before: JsonObject;
  readonly after: JsonObject | undefined;
}

function comparePaths(context: Context, sunset: ReadonlySet<unknown>): readonly string[] {
  return listOperations(context.documents).flatMap(({ place, id, before, after }) => {
    if (after === undefined) return sunset.has(id) ? [] : [`${place}: was removed`];
    return compareOperations({ place, before, after }, context);
  });
}

function listOperations({ before, after }: Documents): readonly Operation[] {
  const paths = asObject(after.paths);
  return Object.entries(asObject(before.paths)).flatMap(([path, item]) => {
    const now = asObject(paths[path]);
    return methods
      .filter((method) => Object.hasOwn(asObject(item), method))
      .map((method) => {
        const old = asObject(asObject(item)[method]);
        return {
          place: `${method.toUpperCase()} ${path}`,
          id: old.operationId,
          before: old,
          after: Object.hasOwn(now, method) ? asObject(now[method]) : undefined,
        };
      });
  });
}

/** Old and new version of a part of an OpenAPI description, with its location. */
interface Pair {
  readonly place: string;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

function compareOperations(pair: Pair, context: Context): readonly string[] {
  const { place, before, after } = pair;
  return [
    ...(before.operationId === after.operationId
      ? []
      : [`${place}: its id ${show(before.operationId)} became ${show(after.operationId)}`]),
    ...compareParameters(pair, context),
    ...compareBodies(pair, context),
    ...compareSecurity(pair, context.documents),
    ...compareResponses(pair, context),
  ];
}

function compareParameters({ place, before, after }: Pair, context: Context): readonly string[] {
  const old = parametersOf(before, context.documents.before);
  const now = parametersOf(after, context.documents.after);
  const added = [...now].filter(([name, one]) => !old.has(name) && one.required === true);
  return [
    ...added.map(([name]) => `${place}: the required parameter ${name} is new`),
    ...[...old].flatMap(([name, one]) => {
      const next = now.get(name);
      const at = `${place} ${name}`;
      if (next === undefined) return [`${at}: was removed`];
      return compareParameter({ place: at, before: one, after: next }, context);
    }),
  ];
}

/** Returns the parameters of an operation by location (such as `query`) and name. Header names are in lower case. */
function parametersOf({ parameters }: JsonObject, document: JsonObject): Map<string, JsonObject> {
  const list = Array.isArray(parameters) ? parameters : [];
  return new Map(
    list.map((one) => {
      const parameter = resolve(document, one);
      const name = String(parameter.name);
      const isHeader = parameter.in === 'header';
      return [`${parameter.in}:${isHeader ? name.toLowerCase() : name}`, parameter] as const;
    }),
  );
}

function compareParameter(pair: Pair, context: Context): readonly string[] {
  const { place, before, after } = pair;
  const spelling = ['style', 'explode', 'allowReserved', 'content'];
  return [
    ...(before.required !== true && after.required === true ? [`${place}: is now required`] : []),
    ...spelling
      .filter((name) => !isDeepStrictEqual(before[name], after[name]))
      .map((name) => `${place}: ${name} was ${show(before[name])} and is ${show(after[name])}`),
    ...compareSchemaOf(pair, 'request', context),
  ];
}

function compareBodies({ place, before, after }: Pair, context: Context): readonly string[] {
  const { documents } = context;
  const old = resolve(documents.before, before.requestBody);
  const now = resolve(documents.after, after.requestBody);
  const at = `${place} body`;
  if (before.requestBody === undefined) {
    return now.required === true ? [`${at}: is now required`] : [];
  }
  if (after.requestBody === undefined) return [`${at}: was removed`];
  return [
    ...(old.required !== true && now.required === true ? [`${at}: is now required`] : []),
    ...compareContents({ place: at, before: old, after: now }, 'request', context),
  ];
}

function compareContents(
  { place, before, after }: Pair,
  direction: Direction,
  context: Context,
): readonly string[] {
  const now = asObject(after.content);
  return Object.entries(asObject(before.content)).flatMap(([mediaType, old]) => {
    const at = `${place} ${mediaType}`;
    if (!Object.hasOwn(now, mediaType)) return [`${at}: was removed`];
    const pair = { place: at, before: asObject(old), after: asObject(now[mediaType]) };
    return compareSchemaOf(pair, direction, context);
  });
}

/**
 * Returns a line for each authentication method that an operation no longer accepts, including access
 * without credentials.
 */
function compareSecurity({ place, before, after }: Pair, documents: Documents): readonly string[] {
  const old = securityOf(before, documents.before);
  const now = securityOf(after, documents.after);
  return old
    .filter((requirement) => !now.some((one) => isDeepStrictEqual(one, requirement)))
    .map((requirement) => `${place}: ${show(requirement)} no longer grants access`);
}

function securityOf(operation: JsonObject, document: JsonObject): readonly unknown[] {
  const requirements = operation.security ?? document.security;
  return Array.isArray(requirements) && requirements.length > 0 ? requirements : [{}];
}

function compareResponses({ place, before, after }: Pair, context: Context): readonly string[] {
  const now = asObject(after.responses);
  return Object.entries(asObject(before.responses)).flatMap(([status, old]) => {
    const at = `${place} ${status}`;
    if (!Object.hasOwn(now, status)) return [`${at}: was removed`];
    const pair = {
      place: at,
      before: resolve(context.documents.before, old),
      after: resolve(context.documents.after, now[status]),
    };
    return [...compareHeaders(pair, context), ...compareContents(pair, 'reply', context)];
  });
}

function compareHeaders({ place, before, after }: Pair, context: Context): readonly string[] {
  const now = headersOf(after, context.documents.after);
  return [...headersOf(before, context.documents.before)].flatMap(([name, old]) => {
    const at = `${place} header ${name}`;
    const next = now.get(name);
    if (next === undefined) return [`${at}: was removed`];
    const isOptionalNow = old.required === true && next.required !== true;
    return [
      ...(isOptionalNow ? [`${at}: was required and is now optional`] : []),
      ...compareSchemaOf({ place: at, before: old, after: next }, 'reply', context),
    ];
  });
}

function headersOf({ headers }: JsonObject, document: JsonObject): Map<string, JsonObject> {
  return new Map(
    Object.entries(asObject(headers)).map(
      ([name, one]) => [name.toLowerCase(), resolve(document, one)] as const,
    ),
  );
}

function compareSchemaOf(
  { place, before, after }: Pair,
  direction: Direction,
  { compare }: Context,
): readonly string[] {
  return compare({ place, direction, before: before.schema ?? {}, after: after.schema ?? {} });
}

/** Returns a line for each error code that was removed or has another HTTP status. */
function compareCodes({ before, after }: Documents): readonly string[] {
  const now = asObject(after['x-problem-codes']);
  return Object.entries(asObject(before['x-problem-codes'])).flatMap(([code, old]) => {
    if (!Object.hasOwn(now, code)) return [`problem ${code}: was removed`];
    const [was, is] = [asObject(old).status, asObject(now[code]).status];
    return was === is ? [] : [`problem ${code}: its status ${show(was)} became ${show(is)}`];
  });
}

/** Returns a line for each announced support period that was shortened or removed. */
function compareLifecycles({ before, after }: Documents): readonly string[] {
  const [old, now] = [before, after].map((one) => asObject(one['x-api-lifecycle']));
  const versions = listOf(old?.supported_versions).filter(
    (version) => !listOf(now?.supported_versions).includes(version),
  );
  const isShorter =
    Number(now?.minimum_support_window_months) < Number(old?.minimum_support_window_months);
  const later = new Map(operationsOf(now).map((one) => [one.operationId, one] as const));
  const sooner = operationsOf(old).filter(
    ({ operationId, sunset }) => String(later.get(operationId)?.sunset ?? sunset) < String(sunset),
  );
  return [
    ...versions.map((version) => `lifecycle: ${show(version)} is no longer supported`),
    ...(isShorter ? ['lifecycle: the support window is shorter'] : []),
    ...sooner.map(({ operationId }) => `lifecycle: the sunset of ${operationId} is earlier`),
  ];
}

/** Returns the ids of the operations whose sunset (announced removal date) has passed. */
function listSunset(document: JsonObject, nowMs: number): ReadonlySet<unknown> {
  const past = operationsOf(asObject(document['x-api-lifecycle'])).filter(
    ({ sunset }) => Date.parse(String(sunset)) <= nowMs,
  );
  return new Set(past.map(({ operationId }) => operationId));
}

function operationsOf(lifecycle: JsonObject | undefined): readonly JsonObject[] {
  return listOf(lifecycle?.deprecated_operations).map(asObject);
}

function compareNames(
  kind: string,
  { before, after }: Documents,
  namesOf: (document: JsonObject) => JsonObject,
): readonly string[] {
  return Object.keys(namesOf(before))
    .filter((name) => !Object.hasOwn(namesOf(after), name))
    .map((name) => `${kind} ${name}: was removed`);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
