import { type JsonSchema, toReplySchemas } from '../core/json-schema.ts';
import { reads } from '../reads/index.ts';
import { describeApi } from './api-description.ts';
import type { OpenApiFacts } from './openapi-facts.ts';
import { describedHeaders } from './openapi-headers.ts';
import { describePaths, keyScheme } from './openapi-paths.ts';
import { describeProblemResponses, problemReply } from './openapi-responses.ts';
import { routes } from './routes.ts';
import { describeLifecycle } from './versioning.ts';

/** Gives the machine description of the service: the OpenAPI 3.1 document of `/openapi.json`. */
export function describeOpenApi(facts: OpenApiFacts): JsonSchema {
  const { baseUrl, version } = facts;
  return {
    openapi: '3.1.1',
    info: {
      title: 'Perch',
      version,
      summary: 'Reads public social posts, profiles, followers and searches.',
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: describeTags(facts),
    // None is needed; operations that take a key say so themselves.
    security: [],
    'x-api-lifecycle': describeLifecycle(baseUrl),
    paths: describePaths(routes, facts),
    components: {
      schemas: toReplySchemas([...Object.values(reads).map(({ reply }) => reply), problemReply]),
      responses: describeProblemResponses(routes),
      headers: describedHeaders,
      securitySchemes: {
        [keyScheme]: {
          type: 'http',
          scheme: 'bearer',
          description: 'An optional key, which the operator hands out. There is no sign-in.',
        },
      },
    },
  };
}

const introduction = [
  'Reads what is already public, and writes nothing. Every GET answers HEAD as well.',
  'Replies grow: ignore members that you do not know. A string with `x-extensible-enum` has these values today and can have others later, and a list can have items of a `type` that is new.',
  'Do not parse Markdown as data: its wording and layout can change.',
  'A parameter that is given twice or has a value outside its schema is refused; unknown parameters are ignored.',
].join('\n\n');

/** Each surface is a tag. */
function describeTags({ baseUrl, version, nowMs }: OpenApiFacts): readonly JsonSchema[] {
  const { surfaces } = describeApi({ baseUrl, version, nowMs: nowMs ?? 0 });
  return surfaces.map(({ name, description }) => ({ name, description }));
}
