import { type JsonSchema, refer } from '../../lib/json-schema.ts';
import { lifecycleState } from '../../lib/lifecycle.ts';
import { problemKinds, sessionProblemKinds } from '../../lib/problem.ts';
import { historyMetaLine, historyPostLine } from '../../model/history.ts';
import { jsonFeed } from '../../model/json-feed.ts';
import { isFeedFormat, isInternalFormat } from '../../model/results.ts';
import { type AnyReadId, allReads, reads } from '../../reads/index.ts';
import { handleParam } from '../../reads/list.ts';
import { acceptsFeeds, describeParametersOf } from '../../reads/read.ts';
import { formats } from '../../render/formats.ts';
import { historyMediaTypes } from '../../render/history.ts';
import { describeReplacement } from '../lifecycle/lifecycle.ts';
import {
  type AliasRoute,
  findVersioned,
  isBrowseRoute,
  isHistoryRoute,
  nameRoute,
  type ReadChoice,
  type ReadRoute,
  type Route,
  routes,
  summarizeRoute,
} from '../reads/routes.ts';
import { keyedPolicies, optionalKey } from './access.ts';
import type { OpenApiFacts } from './document.ts';
import { type NamedExamples, referToExamples } from './examples.ts';
import { listProblemHeaders, listReplyHeaders, notModified, referHeaders } from './headers.ts';
import {
  describeProblem,
  describeRefused,
  problemCodes,
  problemReply,
  withoutCharset,
} from './problems.ts';

/** Returns the path items of posts, profiles, lists and searches, without HEAD. */
export function describePaths(facts: OpenApiFacts, examples: NamedExamples): JsonSchema {
  return Object.fromEntries(
    routes.map((route) => [route.path, { get: describeOperation(route, facts, examples) }]),
  );
}

function describeOperation(route: Route, facts: OpenApiFacts, examples: NamedExamples): JsonSchema {
  const isBrowse = isBrowseRoute(route);
  return {
    operationId: route.id,
    summary: nameRoute(route),
    description: describeRoute(route),
    tags: [route.surface === 'alias' ? 'alias' : allReads[route.read].topic],
    ...describeOperationLifecycle(route, facts),
    parameters: describeParameters(route).map((one) => addExample(one, facts.examples.parameters)),
    ...(isBrowse ? { security: optionalKey } : {}),
    'x-rate-limit-policies': isBrowse ? keyedPolicies : ['post'],
    responses: describeResponses(route, examples),
  };
}

function addExample(parameter: ParameterObject, sent: Readonly<Record<string, unknown>>) {
  const { name, schema } = parameter;
  const hasValue = schema.enum !== undefined || schema.default !== undefined;
  if (hasValue || !Object.hasOwn(sent, name)) return { ...parameter };
  return { ...parameter, example: sent[name] };
}

const bodyTexts = {
  importProfilePosts:
    'The response is JSON, or NDJSON or a feed if `format` or `Accept` selects it. Each line of NDJSON is an object with one member: `post` for each post, and on the last line either `meta` or `error`, a problem document. HEAD runs no import.',
  getOEmbed: 'The response is JSON.',
  other:
    'The response is Markdown unless `format` or `Accept` selects another format; `format` takes precedence.',
};

function describeRoute(route: Route): string {
  const { read } = route;
  const key = isBrowseRoute(route)
    ? 'A bearer key is optional. It has a larger allowance and gives no access to further content.'
    : '`Authorization` is ignored.';
  const body = read === 'importProfilePosts' || read === 'getOEmbed' ? read : 'other';
  return [...describeSurface(route), bodyTexts[body], key].join(' ');
}

function describeSurface(route: Route): readonly string[] {
  if (route.surface === 'v1') return [summarizeRoute(route)];
  if (route.surface === 'alias') {
    return [
      summarizeRoute(route),
      'Deprecated but unchanged; `Link` has the URL of the successor. HEAD runs no read.',
    ];
  }
  const paths = (route.also ?? []).map(({ path, fixed = {} }) => {
    const parameters = Object.entries(fixed).map(([name, value]) => `\`${name}=${value}\``);
    return `\`${path}\`${parameters.length === 0 ? '' : ` (with ${parameters.join(' and ')})`}`;
  });
  const others = paths.length === 0 ? [] : [`Also available at ${paths.join(', ')}.`];
  return [`The body equals that of \`${findVersioned(route.read).path}\`.`, ...others];
}

/** Returns the deprecation members, without `x-lifecycle-state` if `nowMs` is `null`. */
export function describeOperationLifecycle(route: Route, { nowMs }: Pick<OpenApiFacts, 'nowMs'>) {
  const { lifecycle, surface } = route;
  const replacement = surface === 'alias' ? describeReplacement(route) : {};
  return {
    ...(lifecycle === null ? {} : { deprecated: true }),
    ...(nowMs === null ? {} : { 'x-lifecycle-state': lifecycleState(lifecycle, nowMs) }),
    ...('successor' in replacement && { 'x-successor-version': replacement.successor }),
    ...('successors' in replacement && { 'x-successor-version-map': replacement.successors }),
  };
}

/** OpenAPI description of a request parameter (OpenAPI 3.1 §4.8.12). */
export interface ParameterObject {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
}

const pathParameters: Readonly<Record<string, Pick<ParameterObject, 'description' | 'schema'>>> = {
  handle: { description: handleParam.description ?? '', schema: { type: 'string' } },
  id: { description: 'The post’s id.', schema: { type: 'string' } },
  n: {
    description: 'The number of a photo or video of the post. It does not affect the response.',
    schema: { type: 'integer', minimum: 1, maximum: 99 },
  },
};

/** Returns the OpenAPI parameters, path parameters first. */
export function describeParameters({ path, read }: Route): readonly ParameterObject[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const inQuery = typeof read === 'string' ? listOf(read) : listOfChoice(read);
  // A post in the path takes precedence over `url`.
  const named = inPath.includes('id') ? [...inPath, 'url'] : inPath;
  return [
    ...inPath.map((name): ParameterObject => {
      const described = pathParameters[name];
      if (described === undefined) throw new Error(`The parameter ${name} is not described.`);
      return { name, in: 'path', required: true, ...described };
    }),
    ...inQuery.filter(({ name }) => !named.includes(name)),
  ];
}

function listOf(read: AnyReadId): readonly ParameterObject[] {
  return describeParametersOf(allReads[read]).map(({ name, ...one }) => {
    return { name, in: 'query', ...one };
  });
}

function listOfChoice({ parameter, reads: named }: ReadChoice): readonly ParameterObject[] {
  const values = Object.keys(named);
  const lists = Object.values(named).map(listOf);
  const others = new Map(lists.flat().map((one) => [one.name, one]));
  const shared = [...others.values()].map((one) => {
    const takers = values.filter((_, at) => lists[at]?.some(({ name }) => name === one.name));
    const named = takers.map((value) => `\`${value}\``).join(', ');
    const limit = takers.length === values.length ? '' : ` Only for ${named}.`;
    return { ...one, required: false, description: `${one.description}${limit}` };
  });
  const schema = { type: 'string', enum: values };
  const choice = { required: true, description: 'The resource to read.', schema };
  return [{ name: parameter, in: 'query', ...choice }, ...shared];
}

const elsewhere: ReadonlySet<string> = new Set([
  'invalid_body',
  'unauthorized',
  'key_store_unavailable',
  'picture_not_found',
  ...Object.keys(sessionProblemKinds),
]);

function describeResponses(route: Route, examples: NamedExamples): JsonSchema {
  const headers = referHeaders(listReplyHeaders(route));
  const problems = listStatuses(route).map((status) => {
    return [status, { $ref: `#/components/responses/${nameResponse(route, status)}` }] as const;
  });
  const content = describeContent(route, examples);
  return {
    200: { description: 'The result of the read.', headers, content },
    ...(!isHistoryRoute(route) && { 304: { description: notModified, headers } }),
    ...Object.fromEntries(problems),
  };
}

export function describeProblemResponses(examples: NamedExamples): JsonSchema {
  const named = routes.flatMap((route) =>
    listStatuses(route).map((at) => [nameResponse(route, at), describeStatus(route, at, examples)]),
  );
  return Object.fromEntries(named);
}

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

function nameResponse(route: Route, status: ProblemStatus): string {
  if (status === 'default') return 'Refused';
  const surface = isBrowseRoute(route) ? 'Browse' : 'Post';
  return `${route.lifecycle === null ? '' : 'Deprecated'}${surface}Problem${status}`;
}

function describeStatus(route: Route, status: ProblemStatus, examples: NamedExamples) {
  if (status === 'default') return describeRefused(examples);
  const codes = problemCodes.filter(
    (code) => problemKinds[code].status === status && !elsewhere.has(code),
  );
  return describeProblem(codes, referHeaders(listProblemHeaders(route, status)), examples);
}

/** Schemas of the lines of a history as NDJSON. */
function describeHistoryLine(): JsonSchema {
  const failed = {
    type: 'object',
    properties: { error: refer(problemReply) },
    required: ['error'],
  };
  return { anyOf: [refer(historyPostLine), refer(historyMetaLine), failed] };
}

function describeContent(route: Route, examples: NamedExamples): JsonSchema {
  const served: MediaTypes = isHistoryRoute(route) ? historyMediaTypes : listMediaTypes(route);
  const named = typeof route.read === 'string' ? { '': route.read } : route.read.reads;
  const [read] = Object.values<AnyReadId>(named);
  // All operations that a parameter can select have the same response body.
  const schemas: Readonly<Record<string, JsonSchema>> = {
    ...(read && { json: refer(allReads[read].reply) }),
    ndjson: describeHistoryLine(),
    jsonfeed: refer(jsonFeed),
  };
  const bodies = Object.entries(served).map(([format, mediaType]) => {
    const sameType = Object.keys(served).filter((other) => served[other] === mediaType);
    const recorded = Object.entries(named).flatMap(([label, id]) =>
      sameType.map((name) => [label === '' ? name : label, `${id}.${name}`] as const),
    );
    const schema = schemas[format] ?? { type: 'string' };
    return [withoutCharset(mediaType), { schema, ...referToExamples(examples, recorded) }];
  });
  return Object.fromEntries(bodies);
}

/** Returns the media types by format that the reads of a route offer. */
function listMediaTypes({ read: choice }: ReadRoute | AliasRoute): MediaTypes {
  const named = typeof choice === 'string' ? [choice] : Object.values(choice.reads);
  const hasFeeds = named.some((id) => acceptsFeeds(reads[id]));
  const served = named
    .flatMap((id) => Object.entries(formats[reads[id].kind]))
    .filter(([format]) => !isInternalFormat(format) && (!isFeedFormat(format) || hasFeeds));
  return Object.fromEntries(served.map(([format, { mediaType }]) => [format, mediaType]));
}

type MediaTypes = Readonly<Record<string, string>>;
