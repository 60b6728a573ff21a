import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { AllowanceLimits } from '../../access/allowances/allowances.ts';
import type { Clock } from '../../core/clock.ts';
import type { Endpoint } from '../../core/endpoint.ts';
import { type JsonSchema, toReplySchemas } from '../../core/json-schema.ts';
import { historyMetaLine, historyPostLine } from '../../model/history.ts';
import { allReads } from '../../reads/index.ts';
import { documentReplies, serveDocument } from '../discovery/document.ts';
import { surfaces } from '../discovery/surfaces.ts';
import { describeLifecycle } from '../lifecycle/versioning.ts';
import { routes } from '../reads/routes.ts';
import { describeRateLimits, describeSecurity } from './access.ts';
import { describeBodyParts, describeEndpointPaths, listReplySchemas } from './endpoint-paths.ts';
import { describeExamples, type RecordedExamples, readExamples } from './examples.ts';
import { describedHeaders } from './headers.ts';
import { describeProblemCodes, problemReply } from './problems.ts';
import { describePaths, describeProblemResponses } from './read-paths.ts';

/** What the machine description depends on, beside the tables of this folder. */
export interface OpenApiFacts {
  /** Perch's own address, without a trailing slash. */
  readonly baseUrl: string;
  /** The version of Perch. */
  readonly version: string;
  /** The moment whose lifecycle states are told; null leaves them out. */
  readonly nowMs: number | null;
  /** Whether crawlers of link previews get a page of their own at the permalinks of posts. */
  readonly linkPreviews: boolean;
  /** Every route beside the reads. */
  readonly endpoints: readonly Endpoint[];
  /** How large the allowances of this server are. */
  readonly limits: AllowanceLimits;
  /** What a server with the sample answered. */
  readonly examples: RecordedExamples;
}

/** Gives the machine description of the service: the OpenAPI 3.1 document of `/openapi.json`. */
export function describeOpenApi(facts: OpenApiFacts): JsonSchema {
  const { baseUrl, version, endpoints, examples } = facts;
  const replies = [
    ...Object.values(allReads).map(({ reply }) => reply),
    historyPostLine,
    historyMetaLine,
    problemReply,
  ];
  return {
    openapi: '3.1.1',
    info: {
      title: 'Perch',
      version,
      summary: 'Reads public social posts, profiles, followers and searches.',
      description: introduction,
      contact: { name: 'The operator of this server', url: `${baseUrl}/docs/keys` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: describeTags(facts),
    // None is needed; operations that take a key say so themselves.
    security: [],
    'x-api-lifecycle': describeLifecycle(baseUrl),
    'x-rate-limit-policies': describeRateLimits(facts.limits),
    'x-problem-codes': describeProblemCodes(baseUrl),
    paths: { ...describePaths(routes, facts), ...describeEndpointPaths(endpoints, examples) },
    components: {
      schemas: {
        ...toReplySchemas([...replies, ...listReplySchemas(endpoints)]),
        ...describeBodyParts(endpoints),
      },
      responses: describeProblemResponses(routes, facts),
      headers: describedHeaders,
      examples: describeExamples(examples),
      securitySchemes: describeSecurity(endpoints),
    },
  };
}

const introduction = [
  'Reads what is already public, and writes nothing. Every GET answers HEAD as well.',
  'Replies grow: ignore members that you do not know. A string with `x-extensible-enum` has these values today and can have others later, and a list can have items of a `type` that is new.',
  'Do not parse Markdown as data: its wording and layout can change.',
  'A parameter that is given twice or has a value outside its schema is refused; unknown parameters are ignored.',
].join('\n\n');

/** Each surface is a tag, and so are the operator's routes. */
function describeTags({ endpoints }: OpenApiFacts): readonly JsonSchema[] {
  const used = new Set<string>([
    ...routes.map(({ surface }) => surface),
    ...endpoints.map(({ tag }) => tag),
  ]);
  return Object.entries({ ...surfaces, operator: operatorTag })
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}

const operatorTag = 'Private: for the operator of the server, behind the admin token.';

/** What every OpenAPI document has; the rest is its own matter (OpenAPI 3.1 §4.8.1). */
const openApiDocument = z.looseObject({
  openapi: z.string().describe('The version of OpenAPI.'),
  info: z.looseObject({ title: z.string(), version: z.string().describe('Of Perch.') }),
  paths: z.record(z.string(), z.looseObject({})),
});

/** The route of the machine description, as it tells of itself. */
export const openApiEndpoints: readonly Endpoint[] = [
  {
    id: 'getOpenApi',
    method: 'GET',
    path: '/openapi.json',
    tag: 'discovery',
    summary: 'Describes every route, parameter and reply (OpenAPI 3.1).',
    replies: documentReplies({ 'application/json': openApiDocument }),
    problems: [],
    access: 'open',
  },
];

/** The context of the machine description's route. */
export interface OpenApiRouteOptions extends Omit<OpenApiFacts, 'nowMs' | 'examples'> {
  readonly clock: Clock;
}

/** Registers `/openapi.json`. */
export async function openApiPlugin(
  app: FastifyInstance,
  { clock, ...facts }: OpenApiRouteOptions,
) {
  // Read when the document is made: a start does not wait for it.
  const describe = (nowMs: number) =>
    describeOpenApi({ ...facts, nowMs, examples: readExamples(facts.baseUrl) });
  serveDocument(app, { url: '/openapi.json', clock, describe });
}
