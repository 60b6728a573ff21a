import { z } from 'zod';
import type { Endpoint, EndpointHeaders, EndpointReply } from '../../core/endpoint.ts';
import {
  type JsonSchema,
  toBodySchema,
  toInputSchema,
  toReplySchema,
} from '../../core/json-schema.ts';
import { type ProblemCode, problemKinds } from '../../core/problem.ts';
import { parameterForms } from '../../reads/parameters.ts';
import { accesses } from './access.ts';
import { type NamedExamples, nameOfReply, referToExamples } from './examples.ts';
import { describedHeaders, isHeaderName, referHeaders } from './headers.ts';
import { describeProblemContent, describeRefused, tellCodes, withoutCharset } from './problems.ts';

/** Describes the path items of endpoints. One path can have several methods. */
export function describeEndpointPaths(
  endpoints: readonly Endpoint[],
  examples: NamedExamples,
): JsonSchema {
  const items: Record<string, JsonSchema> = {};
  for (const endpoint of endpoints.flatMap(writeOut)) {
    const operation = describeOperation(endpoint, examples);
    items[endpoint.path] = {
      ...items[endpoint.path],
      [endpoint.method.toLowerCase()]: operation,
    };
  }
  return items;
}

/** Writes out a path for each value of an enumeration: `/docs/{page}` would look like `/{handle}/followers`. */
export function writeOut(endpoint: Endpoint): readonly Endpoint[] {
  const { path: schema, ...others } = endpoint.parameters ?? {};
  const members = Object.entries(schema?.shape ?? {});
  const [name, form] = members.find(([, member]) => member instanceof z.ZodEnum) ?? [];
  if (!(form instanceof z.ZodEnum)) return [endpoint];
  const rest = z.object(Object.fromEntries(members.filter(([other]) => other !== name)));
  return form.options.map((value) => ({
    ...endpoint,
    id: `${endpoint.id}${toPascalCase(String(value))}`,
    path: endpoint.path.replace(`{${name}}`, String(value)),
    parameters: { ...others, path: rest },
  }));
}

function toPascalCase(words: string): string {
  return words.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Lists the schemas of the replies of endpoints, for `toReplySchemas`. */
export function listReplySchemas(endpoints: readonly Endpoint[]): readonly z.ZodType[] {
  return endpoints
    .flatMap(({ replies }) => replies)
    .flatMap(({ content = {} }) => Object.values(content))
    .filter((schema) => schema !== 'text');
}

/** Describes what the bodies of endpoints refer to, by name. */
export function describeBodyParts(
  endpoints: readonly Endpoint[],
): Readonly<Record<string, JsonSchema>> {
  const bodies = endpoints.flatMap(({ body = {} }) => Object.values(body));
  return Object.assign({}, ...bodies.map((body) => toBodySchema(body).kept));
}

function describeOperation(endpoint: Endpoint, examples: NamedExamples): JsonSchema {
  const { id, summary, description, tag, access } = endpoint;
  const { callers, members } = accesses[access];
  const parameters = describeParameters(endpoint);
  return {
    operationId: id,
    summary,
    description: description === undefined ? callers : `${description} ${callers}`,
    tags: [tag],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...describeBody(endpoint),
    ...members,
    responses: describeResponses(endpoint, examples),
  };
}

function describeParameters({ parameters = {} }: Endpoint): readonly JsonSchema[] {
  return Object.entries(parameters).flatMap(([place, schema]) => {
    const { properties = {}, required = [] } = toInputSchema(schema, parameterForms);
    // The schema of an object has its members under `properties`, and names those it needs.
    const members = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
    return members.map(([name, { description = '', ...form }]) => ({
      name,
      in: place,
      required: place === 'path' || (required as readonly string[]).includes(name),
      description,
      schema: form,
    }));
  });
}

function describeBody({ body, isBodyOptional }: Endpoint): JsonSchema {
  if (body === undefined) return {};
  const content = Object.entries(body).map(([mediaType, schema]) => [
    withoutCharset(mediaType),
    { schema: toBodySchema(schema).schema },
  ]);
  return {
    requestBody: { required: isBodyOptional !== true, content: Object.fromEntries(content) },
  };
}

interface ResponseObject {
  readonly description: string;
  readonly headers: JsonSchema;
  readonly content?: JsonSchema;
}

function describeResponses(endpoint: Endpoint, examples: NamedExamples): JsonSchema {
  const responses = new Map<number, ResponseObject>();
  for (const reply of endpoint.replies) {
    responses.set(reply.status, describeReply(endpoint, reply, examples));
  }
  const own = [...endpoint.problems, ...accesses[endpoint.access].problems];
  const codes = [...new Set([...own, 'uri_too_long', 'internal_error', 'shutting_down'] as const)];
  for (const status of [...new Set(codes.map((code) => problemKinds[code].status))].sort()) {
    const told = codes.filter((code) => problemKinds[code].status === status);
    const problem = describeProblem(endpoint, { status, told }, examples);
    const reply = responses.get(status);
    responses.set(status, reply === undefined ? problem : join(reply, problem));
  }
  return { ...Object.fromEntries(responses), default: describeRefused(examples) };
}

function join(reply: ResponseObject, problem: ResponseObject): ResponseObject {
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
    const schema = body === 'text' ? { type: 'string' } : toReplySchema(body);
    const sample = ['sample', nameOfReply(endpoint.id, status, mediaType)] as const;
    return [mediaType, { schema, ...referToExamples(examples, [sample]) }];
  });
  return { description, headers, content: Object.fromEntries(bodies) };
}

/** Headers that other replies have too get the same schema, with their own description. */
function describeHeaders(headers: EndpointHeaders): JsonSchema {
  const described = Object.entries(headers).map(([name, { description, isOptional }]) => {
    const schema = isHeaderName(name) ? describedHeaders[name].schema : { type: 'string' };
    return [name, { description, ...(isOptional ? {} : { required: true }), schema }];
  });
  return Object.fromEntries(described);
}

/** Header of the problem `missing_bearer` (RFC 9110 §15.5.2). */
const challenge: EndpointHeaders = { 'WWW-Authenticate': { description: '`Bearer`.' } };

function describeProblem(
  endpoint: Endpoint,
  { status, told }: { readonly status: number; readonly told: readonly ProblemCode[] },
  examples: NamedExamples,
): ResponseObject {
  const waits = status === 429 || status === 503;
  return {
    description: tellCodes(told),
    headers: {
      ...describeCommonHeaders(endpoint),
      ...referHeaders(waits ? ['Retry-After'] : []),
      ...(told.includes('missing_bearer') ? describeHeaders(challenge) : {}),
    },
    content: describeProblemContent(examples, told),
  };
}

/** Describes the headers that every reply of an endpoint has. */
function describeCommonHeaders({ access, headers = {} }: Endpoint): JsonSchema {
  const ofKey = ['X-Api-Key-Status', 'RateLimit-Policy', 'RateLimit'] as const;
  return {
    ...referHeaders(['X-Request-Id', 'Cache-Control', ...(access === 'key' ? ofKey : [])]),
    ...describeHeaders(headers),
  };
}
