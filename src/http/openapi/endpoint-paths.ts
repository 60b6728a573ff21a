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
import { adminScheme, bearerScheme, keyedPolicies, keyScheme } from './access.ts';
import { type RecordedExamples, referToReply } from './examples.ts';
import { describedHeaders, type HeaderName, isHeaderName, referHeaders } from './headers.ts';
import { describeProblemContent, describeRefused, tellCodes, withoutCharset } from './problems.ts';

/** Gives the path items of endpoints, by path; one path can have several methods. */
export function describeEndpointPaths(
  endpoints: readonly Endpoint[],
  examples: RecordedExamples,
): JsonSchema {
  const items: Record<string, JsonSchema> = {};
  for (const endpoint of endpoints.flatMap(writeOut)) {
    const method = endpoint.method.toLowerCase();
    items[endpoint.path] = {
      ...items[endpoint.path],
      [method]: describeOperation(endpoint, examples),
    };
  }
  return items;
}

/**
 * Writes out a path whose parameter takes a few words: a path for each. As a template, `/docs/{page}`
 * could not be told from a permalink such as `/{handle}/followers`.
 */
export function writeOut(endpoint: Endpoint): readonly Endpoint[] {
  const { path: schema, ...others } = endpoint.parameters ?? {};
  const members = Object.entries(schema?.shape ?? {});
  const [name, form] = members.find(isChoice) ?? [];
  if (!(form instanceof z.ZodEnum)) return [endpoint];
  const rest = z.object(Object.fromEntries(members.filter(([other]) => other !== name)));
  return form.options.map((value) => ({
    ...endpoint,
    id: `${endpoint.id}${toPascalCase(String(value))}`,
    path: endpoint.path.replace(`{${name}}`, String(value)),
    parameters: { ...others, path: rest },
  }));
}

function isChoice([, form]: readonly [string, unknown]): boolean {
  return form instanceof z.ZodEnum;
}

function toPascalCase(words: string): string {
  return words.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Gives the schemas of the replies of endpoints, for `toReplySchemas`. */
export function listReplySchemas(endpoints: readonly Endpoint[]): readonly z.ZodType[] {
  const contents = endpoints.flatMap(({ replies }) => replies.map(({ content = {} }) => content));
  return contents.flatMap((content) => Object.values(content)).filter((one) => one !== 'text');
}

/** Gives what the bodies of endpoints refer to, by name. */
export function describeBodyParts(
  endpoints: readonly Endpoint[],
): Readonly<Record<string, JsonSchema>> {
  const bodies = endpoints.flatMap(({ body = {} }) => Object.values(body));
  return Object.assign({}, ...bodies.map((body) => toBodySchema(body).kept));
}

function describeOperation(endpoint: Endpoint, examples: RecordedExamples): JsonSchema {
  const { id, summary, description, tag, access } = endpoint;
  const parameters = describeParameters(endpoint);
  return {
    operationId: id,
    summary,
    description: [...(description === undefined ? [] : [description]), callers[access]].join(' '),
    tags: [tag],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...describeBody(endpoint),
    ...describeAccess(endpoint),
    responses: describeResponses(endpoint, examples),
  };
}

/** Who may call what has an access. */
const callers = {
  open: 'Anybody may call it, without credentials.',
  key: 'A bearer key is optional: it has a larger allowance.',
  bearer: 'Any bearer token is accepted; none is needed unless the operator demands one.',
  operator: 'For the operator alone: it takes the admin token.',
} as const satisfies Readonly<Record<Endpoint['access'], string>>;

function describeAccess({ access }: Endpoint): JsonSchema {
  switch (access) {
    case 'open':
      return {};
    case 'key':
      return {
        security: [{}, { [keyScheme]: [] }],
        'x-rate-limit-policies': keyedPolicies,
      };
    case 'bearer':
      return { security: [{}, { [bearerScheme]: [] }] };
    case 'operator':
      return { security: [{ [adminScheme]: [] }] };
  }
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
  const content = Object.entries(body).map(
    ([mediaType, schema]) =>
      [withoutCharset(mediaType), { schema: toBodySchema(schema).schema }] as const,
  );
  return {
    requestBody: { required: isBodyOptional !== true, content: Object.fromEntries(content) },
  };
}

function describeResponses(endpoint: Endpoint, examples: RecordedExamples): JsonSchema {
  const replies = endpoint.replies.map(
    (reply) => [reply.status, describeReply(endpoint, reply, examples)] as const,
  );
  const codes = listCodes(endpoint);
  const statuses = [...new Set(codes.map((code) => problemKinds[code].status))].sort();
  const problems = statuses.map((status) => {
    const told = codes.filter((code) => problemKinds[code].status === status);
    return [status, describeProblem(endpoint, { status, codes: told }, examples)] as const;
  });
  const responses = new Map<number, ResponseObject>(replies);
  for (const [status, problem] of problems) {
    const reply = responses.get(status);
    responses.set(status, reply === undefined ? problem : join(reply, problem));
  }
  return { ...Object.fromEntries(responses), default: describeRefused(examples) };
}

/** A status can be an answer in the endpoint's own form and a problem document, too. */
function join(reply: ResponseObject, problem: ResponseObject): ResponseObject {
  return {
    description: `${reply.description}\n\n${problem.description}`,
    headers: { ...problem.headers, ...reply.headers },
    content: { ...reply.content, ...problem.content },
  };
}

/** A response of an operation (OpenAPI 3.1 §4.8.17). */
interface ResponseObject {
  readonly description: string;
  readonly headers: JsonSchema;
  readonly content?: JsonSchema;
}

function describeReply(
  endpoint: Endpoint,
  reply: EndpointReply,
  examples: RecordedExamples,
): ResponseObject {
  const { description, content, headers: own = {} } = reply;
  const headers = { ...describeCommonHeaders(endpoint), ...describeHeaders(own) };
  if (content === undefined) return { description, headers };
  const { id } = endpoint;
  const { status } = reply;
  const bodies = Object.entries(content).map(([name, body]) => {
    const mediaType = withoutCharset(name);
    const schema = body === 'text' ? { type: 'string' } : toReplySchema(body);
    const recorded = referToReply(examples, { id, status, mediaType });
    return [mediaType, { schema, ...recorded }] as const;
  });
  return { description, headers, content: Object.fromEntries(bodies) };
}

/** A header that other replies have too is described in the same way, but for its text. */
function describeHeaders(headers: EndpointHeaders): JsonSchema {
  const described = Object.entries(headers).map(([name, { description, isOptional }]) => {
    const schema = isHeaderName(name) ? describedHeaders[name].schema : { type: 'string' };
    return [name, { description, ...(isOptional ? {} : { required: true }), schema }] as const;
  });
  return Object.fromEntries(described);
}

/** What goes with the demand of a bearer (RFC 9110 §15.5.2). */
const challenge: EndpointHeaders = {
  'WWW-Authenticate': { description: '`Bearer`.' },
};

interface ProblemsOfStatus {
  readonly status: number;
  readonly codes: readonly ProblemCode[];
}

function describeProblem(
  endpoint: Endpoint,
  { status, codes }: ProblemsOfStatus,
  examples: RecordedExamples,
): ResponseObject {
  const waits = status === 429 || status === 503;
  return {
    description: tellCodes(codes),
    headers: {
      ...describeCommonHeaders(endpoint),
      ...referHeaders(waits ? ['Retry-After'] : []),
      ...(codes.includes('missing_bearer') ? describeHeaders(challenge) : {}),
    },
    content: describeProblemContent(examples, codes),
  };
}

/** What every reply of an endpoint has. */
function describeCommonHeaders(endpoint: Endpoint): JsonSchema {
  const { headers = {} } = endpoint;
  return { ...referHeaders(listHeaders(endpoint)), ...describeHeaders(headers) };
}

function listHeaders({ access }: Endpoint): readonly HeaderName[] {
  const always = ['X-Request-Id', 'Cache-Control'] as const;
  return access === 'key'
    ? [...always, 'X-Api-Key-Status', 'RateLimit-Policy', 'RateLimit']
    : always;
}

/** The problems of an endpoint: its own, and those of every route. */
function listCodes({ problems, access }: Endpoint): readonly ProblemCode[] {
  const ofAccess: Readonly<Record<Endpoint['access'], readonly ProblemCode[]>> = {
    open: [],
    key: ['invalid_option', 'invalid_key', 'rate_limited'],
    bearer: ['missing_bearer'],
    operator: ['unauthorized', 'overloaded'],
  };
  const ofAll = ['uri_too_long', 'internal_error', 'shutting_down'] as const;
  return [...new Set([...problems, ...ofAccess[access], ...ofAll])];
}
