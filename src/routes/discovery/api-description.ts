import * as z from 'zod';
import { problemKinds, problemMediaType } from '../../lib/problem.ts';
import { isFeedFormat, isInternalFormat } from '../../model/results.ts';
import { importProfilePosts } from '../../reads/import-profile-posts.ts';
import { type ReadId, reads } from '../../reads/index.ts';
import { acceptsFeeds } from '../../reads/read.ts';
import { formats } from '../../render/formats.ts';
import { historyMediaTypes } from '../../render/history.ts';
import { describeVersioning } from '../lifecycle/lifecycle.ts';
import { describeParameters } from '../openapi/read-paths.ts';
import { isBrowseRoute, type Route, routes, summarizeRoute } from '../reads/routes.ts';
import type { Endpoint } from '../route.ts';
import { type DiscoveryFacts, discoveryPaths, surfaces } from './surfaces.ts';

const text = z.string();
const texts = z.array(text).readonly();

const listOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(z.object(shape)).readonly();

/** Schema of the JSON document at `/api`. Members may be added and are never removed. */
export const apiIndex = z
  .object({
    name: z.string(),
    version: z.string(),
    description: z.string(),
    base_url: z.url(),
    documentation: z
      .record(z.string(), z.url())
      .describe('URLs of the documentation pages, keyed by the name of the page.'),
    documents: listOf({
      url: z.url(),
      summary: z.string(),
      media_types: texts.describe('Media types of the document. The first is the default.'),
    }).describe('Other documents that describe the service.'),
    surfaces: listOf({
      name: z
        .string()
        .describe('Name of the group of routes, which is also a tag in `/openapi.json`.'),
      description: z.string(),
      routes: listOf({
        operation_id: text,
        method: text,
        path: text,
        also: texts
          .optional()
          .describe(
            'Other paths of the route, which have no operation of their own in `/openapi.json`.',
          ),
        summary: text,
        parameters: texts.describe('Names of the parameters, path parameters first.'),
        deprecated: z.boolean().optional(),
      }),
    }),
    formats: listOf({
      name: z.string().describe('Value of the parameter `format` that selects the format.'),
      media_type: z.string(),
      reads: texts.describe('Operation ids of the v1 routes that support the format.'),
    }),
    authentication: z.object({
      required: z.boolean(),
      key: z.object({
        header: z.string(),
        scheme: z.string(),
        status_header: z.string(),
        surfaces: texts.describe('Paths of the routes that use API keys.'),
        request_url: z
          .string()
          .describe('URI (web page or e-mail address) at which people can request an API key.'),
      }),
    }),
    limits: z.object({
      window_seconds: z.number().int(),
      allowances: listOf({
        policy: z.string().describe('Name of the quota policy in the header `RateLimit-Policy`.'),
        units: z.number().int(),
        applies_to: z.string(),
      }),
      pool_upstream_requests: z
        .number()
        .int()
        .describe(
          'Maximum number of upstream requests in a window for the profiles, lists and searches of all callers together.',
        ),
      headers: texts,
    }),
    errors: z.object({
      media_type: z.string(),
      documentation: z.url(),
      codes: z.record(z.string(), z.number().int()).describe('HTTP status by problem code.'),
    }),
    versioning: z.object({
      current: z.string(),
      base_path: z.string(),
      policy_url: z.url(),
      deprecated_aliases: listOf({
        path: z.string(),
        deprecation: z
          .string()
          .describe('Value of the header `Deprecation` in replies of the route.'),
        sunset: z.string().describe('Value of the header `Sunset` in replies of the route.'),
        deprecation_iso: z.string(),
        sunset_iso: z.string(),
        state: z.enum(['current', 'announced', 'deprecated', 'past_sunset']),
        successor: z
          .string()
          .optional()
          .describe(
            'The v1 path that replaces the deprecated path. Absent if there are several v1 paths.',
          ),
        successor_parameter: text
          .optional()
          .describe(
            'Query parameter of the deprecated path whose value selects a path in `successors`.',
          ),
        successors: z
          .record(z.string(), z.string())
          .optional()
          .describe(
            'The v1 paths that replace the deprecated path, keyed by the value of the query parameter `successor_parameter`.',
          ),
      }),
    }),
  })
  .meta({ id: 'ApiIndex' });

type ApiIndex = z.output<typeof apiIndex>;

const policies = ['public', 'key', 'post'] as const;

const appliesTo = {
  public:
    'Profiles, lists and searches without a key, unless the cache answers them. Counted per client address.',
  key: 'Profiles, lists and searches with a key, unless the cache answers them. Counted per key; a key can have an allowance of its own.',
  post: 'Posts, replies and oEmbed documents, unless the cache answers them. Counted per client address; keys make no difference.',
} as const;

/** Creates the document at `/api`, with the deprecation states at the time `nowMs`. */
export function describeApi(facts: DiscoveryFacts, nowMs: number): ApiIndex {
  const { baseUrl, version, endpoints, contacts, limits } = facts;
  const docs = `${baseUrl}${discoveryPaths.docs}`;
  return {
    name: 'Perch',
    version,
    description:
      'Reads public social posts, profiles, followers and searches. Responses are Markdown, or JSON with `format=json` or `Accept: application/json`.',
    base_url: baseUrl,
    documentation: {
      index: docs,
      ...Object.fromEntries(facts.pages().map(({ name }) => [name, `${docs}/${name}`])),
    },
    documents: endpoints
      .filter(({ tag }) => tag === 'discovery')
      .map(({ path, summary, replies }) => ({
        url: `${baseUrl}${path}`,
        summary,
        media_types: replies.flatMap(({ content }) => Object.keys(content ?? {})),
      })),
    surfaces: listSurfaces(endpoints),
    formats: listFormats(),
    authentication: {
      required: false,
      key: {
        header: 'Authorization',
        scheme: 'Bearer',
        status_header: 'X-Api-Key-Status',
        surfaces: listKeyPaths(endpoints),
        request_url: contacts.keys,
      },
    },
    limits: {
      window_seconds: limits.windowSeconds,
      allowances: policies.map((policy) => {
        return { policy, units: limits[policy], applies_to: appliesTo[policy] };
      }),
      pool_upstream_requests: limits.pool,
      headers: ['RateLimit-Policy', 'RateLimit', 'Retry-After'],
    },
    errors: {
      media_type: problemMediaType,
      documentation: `${docs}/errors`,
      codes: Object.fromEntries(
        Object.entries(problemKinds).map(([code, { status }]) => [code, status]),
      ),
    },
    versioning: describeVersioning(baseUrl, nowMs),
  };
}

function listSurfaces(endpoints: readonly Endpoint[]) {
  return Object.entries(surfaces)
    .map(([name, description]) => ({
      name,
      description,
      routes: [
        ...routes.filter(({ surface }) => surface === name).map(describeRoute),
        ...endpoints.filter(({ tag }) => tag === name).map(describeEndpoint),
      ],
    }))
    .filter(({ routes: listed }) => listed.length > 0);
}

function describeEndpoint({ id, method, path, summary, parameters = {} }: Endpoint) {
  const named = { ...parameters.path?.shape, ...parameters.query?.shape };
  return { operation_id: id, method, path, summary, parameters: Object.keys(named) };
}

function describeRoute(route: Route) {
  return {
    operation_id: route.id,
    method: 'GET',
    path: route.path,
    ...('also' in route ? { also: route.also.map(({ path }) => path) } : {}),
    summary: summarizeRoute(route),
    parameters: describeParameters(route).map(({ name }) => name),
    ...(route.lifecycle === null ? {} : { deprecated: true }),
  };
}

function listFormats(): ApiIndex['formats'] {
  const ids = Object.keys(reads) as ReadId[]; // keys of the table of reads
  const whole = Object.entries(formats.post).filter(([name]) => !isInternalFormat(name));
  return [
    ...whole.map(([name, { mediaType }]) => ({
      name,
      media_type: mediaType,
      reads: [
        ...ids.filter(
          (id) =>
            Object.hasOwn(formats[reads[id].kind], name) &&
            (!isFeedFormat(name) || acceptsFeeds(reads[id])),
        ),
        ...(Object.hasOwn(historyMediaTypes, name) ? [importProfilePosts.name] : []),
      ],
    })),
    { name: 'ndjson', media_type: historyMediaTypes.ndjson, reads: [importProfilePosts.name] },
  ];
}

function listKeyPaths(endpoints: readonly Endpoint[]): readonly string[] {
  const keyed = endpoints.filter(({ access }) => access === 'key');
  return [...new Set([...routes.filter(isBrowseRoute), ...keyed].map(({ path }) => path))];
}

export function toApiMarkdown(api: ApiIndex): string {
  const { key } = api.authentication;
  const blocks = [
    `# ${api.name}`,
    api.description,
    `Version ${api.version}, at <${api.base_url}>. The paths below are relative to this URL.`,
    ...api.surfaces.flatMap(writeSurface),
    '## Formats',
    ['| `format` | media type | reads |', '| --- | --- | --- |', ...api.formats.map(writeFormat)],
    '## Keys and limits',
    `No key is required. Send a key as \`${key.header}: ${key.scheme}\`; request one at <${key.request_url}>. Allowances are counted over ${api.limits.window_seconds} seconds. A 429 response contains the seconds to wait in \`Retry-After\`.`,
    [
      '| policy | units | applies to |',
      '| --- | --- | --- |',
      ...api.limits.allowances.map(
        ({ policy, units, applies_to }) => `| \`${policy}\` | ${units} | ${applies_to} |`,
      ),
    ],
    '## Errors',
    `Errors are \`${api.errors.media_type}\` documents with a \`code\`: <${api.errors.documentation}>`,
    '## Versioning',
    `The current version is \`${api.versioning.base_path}\`: <${api.versioning.policy_url}>`,
    api.versioning.deprecated_aliases.map(writeAlias),
    '## Documentation',
    Object.entries(api.documentation).map(([name, url]) => `- [${name}](${url})`),
  ];
  const written = blocks.map((block) => [block].flat().join('\n'));
  return `${written.filter((text) => text !== '').join('\n\n')}\n`;
}

function writeSurface({ name, description, routes }: ApiIndex['surfaces'][number]) {
  const lines = routes.map(
    ({ method, path, also = [], summary, deprecated }) =>
      `- \`${method} ${path}\`${also.map((other) => `, \`${other}\``).join('')}: ${summary}${deprecated === true ? ' Deprecated.' : ''}`,
  );
  return [`## Surface ${name}`, description, lines];
}

function writeFormat({ name, media_type, reads }: ApiIndex['formats'][number]): string {
  return `| \`${name}\` | \`${media_type}\` | ${reads.map((read) => `\`${read}\``).join(', ')} |`;
}

function writeAlias(alias: ApiIndex['versioning']['deprecated_aliases'][number]): string {
  const { path, deprecation_iso, sunset_iso, successor, successors = {} } = alias;
  const targets = successor === undefined ? Object.values(successors) : [successor];
  const named = targets.map((target) => `\`${target}\``).join(', ');
  return `- \`${path}\`: deprecated ${deprecation_iso}, sunset ${sunset_iso}, successor ${named}`;
}
