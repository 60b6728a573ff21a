import { type JsonSchema, refer } from '../../core/json-schema.ts';
import { lifecycleState } from '../../core/lifecycle.ts';
import { sessionProblemKinds } from '../../core/session-problem-kinds.ts';
import { historyMetaLine, historyPostLine, historyReply } from '../../model/history.ts';
import { handleParam } from '../../reads/browse.ts';
import { type AnyReadId, allReads, reads } from '../../reads/index.ts';
import { describeParametersOf } from '../../reads/read.ts';
import { formats } from '../../render/formats.ts';
import { historyMediaTypes } from '../../render/history.ts';
import { describeLifecycle } from '../lifecycle/versioning.ts';
import {
  type AliasRoute,
  findVersioned,
  type HistoryRoute,
  isBrowseRoute,
  isHistoryRoute,
  type ReadChoice,
  type ReadRoute,
  type Route,
  summarizeRoute,
} from '../reads/routes.ts';
import { keyScheme, listPolicies } from './access.ts';
import type { OpenApiFacts } from './document.ts';
import { type RecordedExamples, referToReads } from './examples.ts';
import { listProblemHeaders, listReplyHeaders, notModified, referHeaders } from './headers.ts';
import {
  codesOf,
  describeProblemContent,
  describeRefused,
  problemReply,
  tellCodes,
  withoutCharset,
} from './problems.ts';

/** Gives the path items of routes, by path. HEAD is what GET is without a body, so it has no operation. */
export function describePaths(routes: readonly Route[], facts: OpenApiFacts): JsonSchema {
  return Object.fromEntries(
    routes.map((route) => [route.path, { get: describeOperation(route, facts) }]),
  );
}

function describeOperation(route: Route, facts: OpenApiFacts): JsonSchema {
  return {
    operationId: route.id,
    summary: summarizeRoute(route),
    description: describeRoute(route),
    tags: [route.surface],
    ...describeOperationLifecycle(route, facts),
    parameters: describeParameters(route).map((one) => withExample(one, facts.examples)),
    ...(isBrowseRoute(route) ? { security: [{}, { [keyScheme]: [] }] } : {}),
    'x-rate-limit-policies': listPolicies(route),
    responses: describeResponses(route, facts),
  };
}

/** A value helps where the schema names none. */
function withExample(parameter: ParameterObject, { parameters }: RecordedExamples): JsonSchema {
  const { name, schema } = parameter;
  const isTold = schema.enum !== undefined || schema.default !== undefined;
  const isRecorded = Object.hasOwn(parameters, name) && !isTold;
  return { ...parameter, ...(isRecorded ? { example: parameters[name] } : {}) };
}

function describeRoute(route: Route): string {
  const key = isBrowseRoute(route)
    ? 'A bearer key is optional: it has a larger allowance and reads nothing more.'
    : 'It never looks at `Authorization`.';
  return [...describeSurface(route), describeFormat(route), key].join(' ');
}

function describeFormat({ read }: Route): string {
  if (read === 'importProfilePosts') {
    return 'The reply is JSON, or NDJSON where `format` or `Accept` asks for it: each line is an object with one member: `post` for each post as they come, and on the last line either `meta` or `error`, a problem document. HEAD reads nothing.';
  }
  return read === 'getOEmbed'
    ? 'The reply is JSON.'
    : 'The reply is Markdown unless `format` or `Accept` asks for JSON; `format` wins.';
}

/**
 * Names the other paths of a route. They have no operation of their own: as templates, `/profile/{handle}`
 * and `/{handle}/followers` could not be told apart.
 */
function listOtherPaths({ also = [] }: ReadRoute | HistoryRoute): readonly string[] {
  const paths = also.map(({ path, given = {} }) => {
    const fixed = Object.entries(given).map(([name, value]) => `\`${name}=${value}\``);
    return `\`${path}\`${fixed.length === 0 ? '' : ` (with ${fixed.join(' and ')})`}`;
  });
  return paths.length === 0 ? [] : [`It also answers at ${paths.join(', ')}.`];
}

/** Tells how a route stands to the row of v1 with the same read. */
function describeSurface(route: Route): readonly string[] {
  switch (route.surface) {
    case 'v1':
      return [];
    case 'permalink':
      return [
        `The body is that of \`${findVersioned(route.read).path}\`.`,
        ...listOtherPaths(route),
      ];
    case 'alias':
      return ['Answers as before and names its successor in `Link`. HEAD reads nothing.'];
  }
}

/**
 * Gives what an operation says of its lifecycle: `deprecated` and its successor, as one path or as a
 * path for each value of a parameter, and its state where a moment is given.
 */
export function describeOperationLifecycle(
  route: Route,
  { baseUrl, nowMs }: Pick<OpenApiFacts, 'baseUrl' | 'nowMs'>,
): JsonSchema {
  return {
    ...(route.lifecycle === null ? {} : { deprecated: true }),
    ...(nowMs === null ? {} : { 'x-lifecycle-state': lifecycleState(route.lifecycle, nowMs) }),
    ...describeSuccessor(route, baseUrl),
  };
}

function describeSuccessor({ id }: Route, baseUrl: string): JsonSchema {
  const { deprecated_operations: operations } = describeLifecycle(baseUrl);
  const operation = operations.find(({ operationId }) => operationId === id);
  if (operation === undefined) return {};
  return 'successor' in operation
    ? { 'x-successor-version': operation.successor }
    : { 'x-successor-version-map': operation.successors };
}

/** A parameter of an operation (OpenAPI 3.1 §4.8.12). */
export interface ParameterObject {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
}

type Described = Pick<ParameterObject, 'description' | 'schema'>;

/** The parameters that can stand in a path, where they alone name what is read. */
const pathParameters: Readonly<Record<string, Described>> = {
  handle: { description: handleParam.description ?? '', schema: { type: 'string' } },
  id: { description: 'The post’s id.', schema: { type: 'string' } },
  n: {
    description: 'The number of a photo or video of the post. The post is read whatever it is.',
    schema: { type: 'integer', minimum: 1, maximum: 99 },
  },
};

/** Gives the parameters of a route, those of the path first. */
export function describeParameters({ path, read }: Route): readonly ParameterObject[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const inQuery = typeof read === 'string' ? listOf(read) : listOfChoice(read);
  return [
    ...inPath.map((name) => toPathParameter(path, name)),
    ...inQuery.filter(
      // A path that names the post is not overruled by `url`.
      ({ name }) => !inPath.includes(name) && !(name === 'url' && inPath.includes('id')),
    ),
  ];
}

function toPathParameter(path: string, name: string): ParameterObject {
  const described = pathParameters[name];
  if (described === undefined)
    throw new Error(`The parameter ${name} of ${path} is not described.`);
  return { name, in: 'path', required: true, ...described };
}

/** Gives the parameters of a read as they stand in a query. */
function listOf(read: AnyReadId): readonly ParameterObject[] {
  return describeParametersOf(allReads[read]).map(({ name, ...one }) => ({
    name,
    in: 'query',
    ...one,
  }));
}

/** Gives the parameter that names the read, and after it those of every read that it can name. */
function listOfChoice({ parameter, reads: named }: ReadChoice): readonly ParameterObject[] {
  const values = Object.keys(named);
  const choice: ParameterObject = {
    name: parameter,
    in: 'query',
    required: true,
    description: 'What is read.',
    schema: { type: 'string', enum: values },
  };
  const lists = Object.values(named).map(listOf);
  const others = new Map(lists.flat().map((one) => [one.name, one] as const));
  return [
    choice,
    ...[...others.values()].map((one) => {
      const takers = values.filter((_, index) =>
        lists[index]?.some(({ name }) => name === one.name),
      );
      return { ...one, required: false, description: tellTakers(one, takers, values) };
    }),
  ];
}

/** Says which reads take a parameter, where not all of them do. */
function tellTakers(
  { description }: ParameterObject,
  takers: readonly string[],
  all: readonly string[],
): string {
  if (takers.length === all.length) return description;
  return `${description} Only for ${takers.map((value) => `\`${value}\``).join(', ')}.`;
}

/** Codes that no read answers with. */
const elsewhere: ReadonlySet<string> = new Set([
  'invalid_body',
  'unauthorized',
  'key_store_unavailable',
  ...Object.keys(sessionProblemKinds),
]);

/** Gives the responses of a route, by status; problems are kept under `components`. */
function describeResponses(route: Route, facts: OpenApiFacts): JsonSchema {
  const headers = referHeaders(listReplyHeaders(route));
  const problems = listStatuses(route).map(
    (status) =>
      [status, { $ref: `#/components/responses/${nameResponse(route, status)}` }] as const,
  );
  if (isHistoryRoute(route)) {
    const content = describeHistoryContent(facts);
    return {
      200: { description: 'What was read.', headers, content },
      ...Object.fromEntries(problems),
    };
  }
  return {
    200: { description: 'What was read.', headers, content: describeContent(route, facts) },
    304: { description: notModified, headers },
    ...Object.fromEntries(problems),
  };
}

/** Gives every response that is kept under `components`, by name. */
export function describeProblemResponses(
  routes: readonly Route[],
  { examples }: OpenApiFacts,
): JsonSchema {
  const named = routes.flatMap((route) =>
    listStatuses(route).map(
      (status) => [nameResponse(route, status), describeProblem(route, status, examples)] as const,
    ),
  );
  return Object.fromEntries(named);
}

/** A status of a problem; `default` stands for what is refused before a route is reached. */
type ProblemStatus = number | 'default';

function listStatuses(route: Route): readonly ProblemStatus[] {
  return [
    400,
    ...(isBrowseRoute(route) ? [401] : []),
    ...[404, 414, 429, 500],
    ...(route.read === 'getOEmbed' ? [501] : []),
    ...[502, 503],
    'default',
  ];
}

/** Routes with the same headers share their problems. */
function nameResponse(route: Route, status: ProblemStatus): string {
  if (status === 'default') return 'Refused';
  const surface = isBrowseRoute(route) ? 'Browse' : 'Post';
  return `${route.lifecycle === null ? '' : 'Deprecated'}${surface}Problem${status}`;
}

function describeProblem(
  route: Route,
  status: ProblemStatus,
  examples: RecordedExamples,
): JsonSchema {
  if (status === 'default') return describeRefused(examples);
  const codes = codesOf(status).filter((code) => !elsewhere.has(code));
  const headers = referHeaders(listProblemHeaders(route, status));
  return {
    description: tellCodes(codes),
    headers,
    content: describeProblemContent(examples, codes),
  };
}

/** Describes the two bodies of a history: one document, or a line for each post and one more. */
function describeHistoryContent({ examples }: OpenApiFacts): JsonSchema {
  const names = { '': 'importProfilePosts' };
  const failed = {
    type: 'object',
    properties: { error: refer(problemReply) },
    required: ['error'],
  };
  const line = { anyOf: [refer(historyPostLine), refer(historyMetaLine), failed] };
  const { json, ndjson } = historyMediaTypes;
  return {
    [withoutCharset(json)]: {
      schema: refer(historyReply),
      ...referToReads(examples, names, ['json']),
    },
    [withoutCharset(ndjson)]: { schema: line, ...referToReads(examples, names, ['ndjson']) },
  };
}

/** Gives the body of what was read in each media type that the route can send. */
function describeContent(
  route: ReadRoute | AliasRoute,
  { linkPreviews, examples }: OpenApiFacts,
): JsonSchema {
  // Every read that a parameter can name has the same body: all of them browse.
  const read = typeof route.read === 'string' ? route.read : Object.values(route.read.reads)[0];
  if (read === undefined) throw new Error(`The route ${route.path} reads nothing.`);
  const hasPreview = linkPreviews && route.surface === 'permalink' && read === 'getPost';
  const named = Object.entries(formats[reads[read].kind]).filter(
    ([format]) => format !== 'preview' || hasPreview,
  );
  const formatsOf = (type: string) =>
    named.filter(([, { mediaType }]) => mediaType === type).map(([format]) => format);
  const names = typeof route.read === 'string' ? { '': route.read } : route.read.reads;
  return Object.fromEntries(
    named.map(([format, { mediaType }]) => [
      withoutCharset(mediaType),
      {
        schema: format === 'json' ? refer(reads[read].reply) : { type: 'string' },
        ...referToReads(examples, names, formatsOf(mediaType)),
      },
    ]),
  );
}
