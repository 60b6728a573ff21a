import type { AllowanceLimits } from '../../access/allowances/allowances.ts';
import type { Endpoint } from '../../core/endpoint.ts';
import { type JsonSchema, toReplySchemas } from '../../core/json-schema.ts';
import { historyMetaLine, historyPostLine } from '../../model/history.ts';
import { allReads } from '../../reads/index.ts';
import { surfaces } from '../discovery/surfaces.ts';
import { describeLifecycle } from '../lifecycle/versioning.ts';
import { routes } from '../reads/routes.ts';
import { describeRateLimits, describeSecurity } from './access.ts';
import { describeBodyParts, describeEndpointPaths, listReplySchemas } from './endpoint-paths.ts';
import { nameExamples, type RecordedExamples } from './examples.ts';
import { describedHeaders } from './headers.ts';
import { describeProblemCodes, problemReply } from './problems.ts';
import { describePaths, describeProblemResponses } from './read-paths.ts';

export interface OpenApiFacts {
  readonly baseUrl: string;
  readonly version: string;
  /** The instant of the lifecycle states; `null` leaves them out. */
  readonly nowMs: number | null;
  /** Whether crawlers of link previews get a page of their own at the permalinks of posts. */
  readonly linkPreviews: boolean;
  readonly endpoints: readonly Endpoint[];
  readonly limits: AllowanceLimits;
  readonly examples: RecordedExamples;
}

/** Describes the service: the OpenAPI 3.1 document of `/openapi.json`. */
export function describeOpenApi(facts: OpenApiFacts): JsonSchema {
  const { baseUrl, version, endpoints } = facts;
  const examples = nameExamples(facts.examples);
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
    tags: describeTags(endpoints),
    // None is needed; operations that take a key say so themselves.
    security: [],
    'x-api-lifecycle': describeLifecycle(baseUrl),
    'x-rate-limit-policies': describeRateLimits(facts.limits),
    'x-problem-codes': describeProblemCodes(baseUrl),
    paths: { ...describePaths(facts, examples), ...describeEndpointPaths(endpoints, examples) },
    components: {
      schemas: {
        ...toReplySchemas([...replies, ...listReplySchemas(endpoints)]),
        ...describeBodyParts(endpoints),
      },
      responses: describeProblemResponses(examples),
      headers: describedHeaders,
      examples,
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

/** Each surface that has a route is a tag, and so are the operator's routes. */
function describeTags(endpoints: readonly Endpoint[]): readonly JsonSchema[] {
  const operator = 'Private: for the operator of the server, behind the admin token.';
  const used = new Set<string>([
    ...routes.map(({ surface }) => surface),
    ...endpoints.map(({ tag }) => tag),
  ]);
  return Object.entries({ ...surfaces, operator })
    .filter(([name]) => used.has(name))
    .map(([name, description]) => ({ name, description }));
}
