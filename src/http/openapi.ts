import { type JsonSchema, toReplySchemas } from '../core/json-schema.ts';
import { historyMetaLine, historyPostLine } from '../model/history.ts';
import { allReads } from '../reads/index.ts';
import {
  describeBodyParts,
  describeEndpointPaths,
  listReplySchemas,
} from './openapi-endpoint-paths.ts';
import { describeExamples } from './openapi-examples.ts';
import type { OpenApiFacts } from './openapi-facts.ts';
import { describedHeaders } from './openapi-headers.ts';
import { describePaths } from './openapi-paths.ts';
import { describeProblemCodes, problemReply } from './openapi-problems.ts';
import { describeRateLimits } from './openapi-rate-limits.ts';
import { describeProblemResponses } from './openapi-responses.ts';
import { describeSecurity } from './openapi-security.ts';
import { routes } from './routes.ts';
import { surfaces } from './surfaces.ts';
import { describeLifecycle } from './versioning.ts';

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
