import type * as z from 'zod';
import { type JsonSchema, toBodySchema, toReplySchema } from '../../lib/json-schema.ts';
import { type ProblemCode, problemKinds } from '../../lib/problem.ts';
import { describeParametersOf } from '../../reads/read.ts';
import { hasErrorPages } from '../reads/routes.ts';
import type { Endpoint, EndpointHeaders, EndpointReply } from '../route.ts';
import { accesses } from './access.ts';
import { type NamedExamples, nameOfReply, referToExamples } from './examples.ts';
import { describeHeaders, referHeaders } from './headers.ts';
import {
  describeProblem,
  describeRefused,
  type ResponseObject,
  withoutCharset,
} from './problems.ts';

/** Returns the path items keyed by path. A path item can have several methods. */
export function describeEndpointPaths(endpoints: readonly Endpoint[], examples: NamedExamples) {
  const items: Record<string, JsonSchema> = {};
  for (const endpoint of endpoints) {
    const operation = { [endpoint.method.toLowerCase()]: describeOperation(endpoint, examples) };
    items[endpoint.path] = { ...items[endpoint.path], ...operation };
  }
  return items;
}

export function listReplySchemas(endpoints: readonly Endpoint[]): readonly z.ZodType[] {
  return endpoints
    .flatMap(({ replies }) => replies)
    .flatMap(({ content = {} }) => Object.values(content))
    .filter((schema) => typeof schema !== 'string');
}

/** Returns the named JSON schemas to which request bodies refer. */
export function describeBodyParts(endpoints: readonly Endpoint[]): JsonSchema {
  const bodies = endpoints.flatMap(({ body = {} }) => Object.values(body));
  return Object.assign({}, ...bodies.map((body) => toBodySchema(body).kept));
}

function describeOperation(endpoint: Endpoint, examples: NamedExamples): JsonSchema {
  const { id, title, summary, description, tag, topic = tag, access } = endpoint;
  const { callers, members } = accesses[access];
  const parameters = describeParameters(endpoint);
  return {
    operationId: id,
    summary: title,
    description: [summary, description ?? [], callers].flat().join(' '),
    tags: [topic],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...describeBody(endpoint),
    ...members,
    responses: describeResponses(endpoint, examples),
  };
}

function describeParameters({ parameters = {} }: Endpoint): readonly JsonSchema[] {
  return Object.entries(parameters).flatMap(([location, params]) =>
    describeParametersOf({ params, requires: [] }).map(({ name, required, ...one }) => {
      return { name, in: location, required: required || location === 'path', ...one };
    }),
  );
}

function describeBody({ body, isBodyOptional }: Endpoint): JsonSchema {
  if (body === undefined) return {};
  const content = Object.entries(body).map(([mediaType, schema]) => [
    withoutCharset(mediaType),
    { schema: toBodySchema(schema).schema },
  ]);
  const required = isBodyOptional !== true;
  return { requestBody: { required, content: Object.fromEntries(content) } };
}

function describeResponses(endpoint: Endpoint, examples: NamedExamples): JsonSchema {
  const responses: Record<number, ResponseObject> = Object.fromEntries(
    endpoint.replies.map((reply) => [reply.status, describeReply(endpoint, reply, examples)]),
  );
  const own = [...endpoint.problems, ...accesses[endpoint.access].problems];
  const codes = [...new Set([...own, 'uri_too_long', 'internal_error', 'shutting_down'] as const)];
  for (const status of new Set(codes.map((code) => problemKinds[code].status))) {
    const used = codes.filter((code) => problemKinds[code].status === status);
    const headers = describeProblemHeaders(endpoint, status, used);
    const problem = addPage(endpoint, describeProblem(used, headers, examples));
    responses[status] = merge(responses[status], problem);
  }
  return { ...responses, default: addPage(endpoint, describeRefused(examples)) };
}

function addPage({ path }: Endpoint, problem: ResponseObject): ResponseObject {
  if (!hasErrorPages(path)) return problem;
  const headers = { ...problem.headers, ...referHeaders(['Vary']) };
  const page = { 'text/html': { schema: { type: 'string' } } };
  return { ...problem, headers, content: { ...problem.content, ...page } };
}

function merge(reply: ResponseObject | undefined, problem: ResponseObject): ResponseObject {
  if (reply === undefined) return problem;
  return {
    description: `${reply.description}\n\n${problem.description}`,
    headers: { ...problem.headers, ...reply.headers },
    content: { ...reply.content, ...problem.content },
  };
}

function describeReply(
  endpoint: Endpoint,
  { status, description, content, headers: own = {} }: EndpointReply,
  examples: NamedExamples,
): ResponseObject {
  const headers = { ...describeCommonHeaders(endpoint), ...describeHeaders(own) };
  if (content === undefined) return { description, headers };
  const bodies = Object.entries(content).map(([name, body]) => {
    const mediaType = withoutCharset(name);
    const schema = describeContent(body);
    const sample = ['sample', nameOfReply(endpoint.id, status, mediaType)] as const;
    return [mediaType, { schema, ...referToExamples(examples, [sample]) }];
  });
  return { description, headers, content: Object.fromEntries(bodies) };
}

function describeContent(body: z.ZodType | 'text' | 'binary'): JsonSchema {
  if (body === 'text') return { type: 'string' };
  return body === 'binary' ? {} : toReplySchema(body); // OpenAPI 3.1.1 §4.7.14.3: binary data has no schema
}

/** Reply header that the problem `missing_bearer` requires (RFC 9110 §15.5.2). */
const challenge: EndpointHeaders = { 'WWW-Authenticate': { description: '`Bearer`.' } };

/** Reply header to a compressed request body (RFC 9110 §15.5.16). */
const acceptedCodings: EndpointHeaders = {
  'Accept-Encoding': { description: '`identity`, to a compressed body.', isOptional: true },
};

function describeProblemHeaders(endpoint: Endpoint, status: number, used: readonly ProblemCode[]) {
  return {
    ...describeCommonHeaders(endpoint),
    ...referHeaders(status === 429 || status === 503 ? ['Retry-After'] : []),
    ...(used.includes('missing_bearer') ? describeHeaders(challenge) : {}),
    ...(used.includes('unsupported_media_type') ? describeHeaders(acceptedCodings) : {}),
  };
}

function describeCommonHeaders({ access, headers = {} }: Endpoint): JsonSchema {
  const ofKey = ['X-Api-Key-Status', 'RateLimit-Policy', 'RateLimit'] as const;
  return {
    ...referHeaders(['X-Request-Id', 'Cache-Control', ...(access === 'key' ? ofKey : [])]),
    ...describeHeaders(headers),
  };
}
