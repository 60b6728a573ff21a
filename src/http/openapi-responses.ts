import { type JsonSchema, refer } from '../core/json-schema.ts';
import { sessionProblemKinds } from '../core/session-problem-kinds.ts';
import { historyMetaLine, historyPostLine, historyReply } from '../model/history.ts';
import { reads } from '../reads/index.ts';
import { formats } from '../render/formats.ts';
import { historyMediaTypes } from '../render/history.ts';
import { type RecordedExamples, referToReads } from './openapi-examples.ts';
import type { OpenApiFacts } from './openapi-facts.ts';
import {
  listProblemHeaders,
  listReplyHeaders,
  notModified,
  referHeaders,
} from './openapi-headers.ts';
import {
  codesOf,
  describeProblemContent,
  describeRefused,
  problemReply,
  tellCodes,
  withoutCharset,
} from './openapi-problems.ts';
import {
  type AliasRoute,
  isBrowseRoute,
  isHistoryRoute,
  type ReadRoute,
  type Route,
} from './routes.ts';

/** Codes that no read answers with. */
const elsewhere: ReadonlySet<string> = new Set([
  'invalid_body',
  'unauthorized',
  'key_store_unavailable',
  ...Object.keys(sessionProblemKinds),
]);

/** Gives the responses of a route, by status; problems are kept under `components`. */
export function describeResponses(route: Route, facts: OpenApiFacts): JsonSchema {
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
