import type { AllowanceLimits } from '../../access/allowances.ts';
import { type JsonSchema, toReplySchemas } from '../../lib/json-schema.ts';
import { historyMetaLine, historyPostLine } from '../../model/history.ts';
import { jsonFeed } from '../../model/json-feed.ts';
import { allReads } from '../../reads/index.ts';
import type { Topic } from '../../reads/read.ts';
import type { Endpoint } from '../../web/route.ts';
import { surfaces } from '../discovery/surfaces.ts';
import { describeLifecycle } from '../lifecycle/lifecycle.ts';
import { routes } from '../reads/routes.ts';
import { describeRateLimits, describeSecurity } from './access.ts';
import { describeBodyParts, describeEndpointPaths, listReplySchemas } from './endpoint-paths.ts';
import { nameExamples, type RecordedExamples } from './examples.ts';
import { describedHeaders } from './headers.ts';
import { describeProblemCodes, problemReply } from './problems.ts';
import { describePaths, describeProblemResponses } from './read-paths.ts';
import { keepUsedComponents } from './used-components.ts';

export interface OpenApiFacts {
  readonly baseUrl: string;
  readonly version: string;
  /** Time of the deprecation states in epoch milliseconds; `null` to omit the states. */
  readonly nowMs: number | null;
  readonly endpoints: readonly Endpoint[];
  readonly limits: AllowanceLimits;
  readonly examples: RecordedExamples;
}

export function describeOpenApi(facts: OpenApiFacts): JsonSchema {
  const { baseUrl, version, endpoints } = facts;
  const examples = nameExamples(facts.examples);
  const readReplies = Object.values(allReads).map(({ reply }) => reply);
  const ownReplies = [historyPostLine, historyMetaLine, jsonFeed, problemReply];
  const document = {
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
    // No credentials by default; operations that accept a key have their own `security`.
    security: [],
    'x-api-lifecycle': describeLifecycle(baseUrl),
    'x-rate-limit-policies': describeRateLimits(facts.limits),
    'x-problem-codes': describeProblemCodes(baseUrl),
    paths: { ...describePaths(facts, examples), ...describeEndpointPaths(endpoints, examples) },
  };
  const components = {
    schemas: {
      ...toReplySchemas([...readReplies, ...ownReplies, ...listReplySchemas(endpoints)]),
      ...describeBodyParts(endpoints),
    },
    responses: describeProblemResponses(examples),
    headers: describedHeaders,
    examples,
  };
  const securitySchemes = describeSecurity(['key', ...endpoints.map(({ access }) => access)]);
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
