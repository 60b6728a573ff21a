import type * as z from 'zod';
import type { AllowanceLimits } from '../../access/allowances.ts';
import {
  type JsonSchema,
  toBodySchema,
  toReplySchema,
  toReplySchemas,
} from '../../lib/json-schema.ts';
import { type ProblemCode, problemKinds } from '../../lib/problem.ts';
import { historyMetaLine, historyPostLine } from '../../model/history.ts';
import { jsonFeed } from '../../model/json-feed.ts';
import { allReads } from '../../reads/index.ts';
import { describeParametersOf, type Topic } from '../../reads/read.ts';
import { surfaces } from '../discovery/surfaces.ts';
import { describeLifecycle } from '../lifecycle/lifecycle.ts';
import { hasErrorPages, routes } from '../reads/routes.ts';
import type { Endpoint, EndpointHeaders, EndpointReply } from '../route.ts';
import { accesses, describeRateLimits, describeSecurity } from './access.ts';
import {
  type NamedExamples,
  nameExamples,
  nameOfReply,
  type RecordedExamples,
  referToExamples,
} from './examples.ts';
import { describedHeaders, describeHeaders, referHeaders } from './headers.ts';
import {
  describeProblem,
  describeProblemCodes,
  describeRefused,
  problemReply,
  type ResponseObject,
  withoutCharset,
} from './problems.ts';
import { describePaths, describeProblemResponses } from './read-paths.ts';

interface DocumentFacts {
  readonly baseUrl: string;
  readonly version: string;
  readonly endpoints: readonly Endpoint[];
  readonly examples: RecordedExamples;
}

export interface OpenApiFacts extends DocumentFacts {
  /** Time of the deprecation states in epoch milliseconds; `null` to omit the states. */
  readonly nowMs: number | null;
  readonly limits: AllowanceLimits;
}

export function describeOpenApi(facts: OpenApiFacts): JsonSchema {
  const { baseUrl, endpoints } = facts;
  const examples = nameExamples(facts.examples);
  return assemble(facts, examples, {
    title: 'Perch',
    summary: 'Reads public social posts, profiles, followers and searches.',
    description: introduction,
    contactPath: '/docs/keys',
    tags: describeTags(endpoints),
    extensions: {
      'x-api-lifecycle': describeLifecycle(baseUrl),
      'x-rate-limit-policies': describeRateLimits(facts.limits),
    },
    paths: describePaths(facts, examples),
    replies: [
      ...Object.values(allReads).map(({ reply }) => reply),
      ...[historyPostLine, historyMetaLine, jsonFeed],
    ],
    responses: describeProblemResponses(examples),
    access: ['key'],
  });
}

/** Returns the OpenAPI description of the operator's routes, which the public one omits. */
export function describeAdminApi(facts: DocumentFacts): JsonSchema {
  return assemble(facts, nameExamples(facts.examples), {
    title: 'Perch admin API',
    summary: 'Manages API keys and reads metrics.',
    description:
      'For the operator of the server. Every request needs the admin token. The routes can change with any release.',
    contactPath: '/docs/admin',
    tags: [{ name: 'operator', description: 'For the operator of the server.' }],
  });
}

interface DocumentParts extends Readonly<Record<'title' | 'summary' | 'description', string>> {
  readonly contactPath: string;
  readonly tags: ReturnType<typeof describeTags>;
  readonly extensions?: JsonSchema;
  /** Path items, replies, responses and access kinds besides those of the endpoints. */
  readonly paths?: JsonSchema;
  readonly replies?: readonly z.ZodType[];
  readonly responses?: JsonSchema;
  readonly access?: readonly Endpoint['access'][];
}

function assemble(
  { baseUrl, version, endpoints }: DocumentFacts,
  examples: NamedExamples,
  { title, summary, description, contactPath, tags, extensions, ...parts }: DocumentParts,
): JsonSchema {
  const { paths, replies = [], responses, access = [] } = parts;
  const document = {
    openapi: '3.1.1',
    info: {
      ...{ title, version, summary, description },
      contact: { name: 'The operator of this server', url: `${baseUrl}${contactPath}` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags,
    // No credentials by default; operations that accept a key have their own `security`.
    security: [],
    ...extensions,
    'x-problem-codes': describeProblemCodes(baseUrl),
    paths: { ...paths, ...describeEndpointPaths(endpoints, examples) },
  };
  const components = {
    schemas: {
      ...toReplySchemas([...replies, problemReply, ...listReplySchemas(endpoints)]),
      ...describeBodyParts(endpoints),
    },
    ...(responses && { responses }),
    headers: describedHeaders,
    examples,
  };
  const kinds = endpoints.map((endpoint) => endpoint.access);
  const securitySchemes = describeSecurity([...access, ...kinds]);
  return {
    ...document,
    components: { ...keepUsedComponents(document, components), securitySchemes },
  };
}

const introduction = [
  'Reads public content only, and writes nothing. Every GET route supports HEAD as well.',
  'Responses can get new members: ignore those that you do not know. A string with `x-extensible-enum` can get new values, and a list can get items with a new `type`.',
  'Do not parse Markdown as data: its wording and layout can change.',
  'A repeated parameter, or one with a value outside its schema, is an error. Unknown parameters are ignored.',
].join('\n\n');

const topics: Readonly<Record<Topic, string>> = {
  posts: 'Posts with their threads and replies.',
  profiles: 'Accounts with their posts.',
  follows: 'The followers of accounts, and the accounts that they follow.',
  search: 'Posts and accounts that match a query.',
  history: 'All posts of an account in a date range.',
  embeds: 'Documents that show a post in a web page (oEmbed).',
  feeds: 'Lists of feeds, and the paths of feeds on Nitter.',
};

/** Returns a tag for each topic and for each other group of endpoints that the server has. */
export function describeTags(endpoints: readonly Endpoint[]) {
  const used = new Set<string>([
    ...routes.map((one) => (one.surface === 'alias' ? one.surface : allReads[one.read].topic)),
    ...endpoints.map(({ tag, topic = tag }) => topic),
  ]);
  return Object.entries({ ...topics, ...surfaces })
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}

const prefix = '#/components/';

type Section = Readonly<Record<string, unknown>>;

/** Components by section, such as `schemas` or `examples` (OpenAPI 3.1 §4.8.7). */
export type Components = Readonly<Record<string, Section>>;

function keepUsedComponents(document: JsonSchema, components: Components): Components {
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
    if (typeof value !== 'string' || !value.startsWith(prefix) || used.has(value)) return;
    used.add(value);
    const [section = '', name = ''] = value.slice(prefix.length).split('/');
    visit(components[section]?.[name]);
  };
  visit(document);
  const sections = Object.entries(components).map(([section, members]) => {
    const kept = Object.entries(members).filter(([name]) =>
      used.has(`${prefix}${section}/${name}`),
    );
    return [section, Object.fromEntries(kept)] as const;
  });
  return Object.fromEntries(sections);
}

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
