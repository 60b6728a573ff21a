import type { Endpoint } from '../../core/endpoint.ts';
import { problemKinds, problemMediaType } from '../../core/problem.ts';
import { importProfilePosts } from '../../reads/import-profile-posts.ts';
import { type ReadId, reads } from '../../reads/index.ts';
import { formats } from '../../render/formats.ts';
import { historyMediaTypes } from '../../render/history.ts';
import { describeVersioning } from '../lifecycle/versioning.ts';
import { describeParameters } from '../openapi/read-paths.ts';
import { isBrowseRoute, type Route, routes, summarizeRoute } from '../reads/routes.ts';
import type { ApiIndex } from './api-description-schema.ts';
import type { DiscoveryFacts } from './discovery-facts.ts';
import { discoveryPaths } from './discovery-links.ts';
import { surfaces } from './surfaces.ts';

type DescribedRoute = ApiIndex['surfaces'][number]['routes'][number];

/**
 * Gives the machine-readable description of the service: the document of `/api`.
 *
 * @param nowMs The moment whose lifecycle states are told.
 */
export function describeApi(facts: DiscoveryFacts, nowMs: number): ApiIndex {
  const { baseUrl, version } = facts;
  return {
    name: 'Perch',
    version,
    description:
      'Reads public social posts, profiles, followers and searches. Replies are Markdown, or JSON with `format=json` or `Accept: application/json`.',
    base_url: baseUrl,
    documentation: listPages(facts),
    documents: listDocuments(facts),
    surfaces: listSurfaces(facts.endpoints),
    formats: listFormats(),
    authentication: describeAuthentication(facts),
    limits: describeLimits(facts),
    errors: {
      media_type: problemMediaType,
      documentation: `${baseUrl}${discoveryPaths.docs}/errors`,
      codes: Object.fromEntries(
        Object.entries(problemKinds).map(([code, { status }]) => [code, status]),
      ),
    },
    versioning: describeVersioning(baseUrl, nowMs),
  };
}

function listPages({ baseUrl, pages }: DiscoveryFacts): ApiIndex['documentation'] {
  const index = `${baseUrl}${discoveryPaths.docs}`;
  const addresses = pages().map(({ name }) => [name, `${index}/${name}`] as const);
  return Object.fromEntries([['index', index], ...addresses]);
}

function listDocuments({ baseUrl, endpoints }: DiscoveryFacts): ApiIndex['documents'] {
  return endpoints
    .filter(({ tag }) => tag === 'discovery')
    .map(({ path, summary, replies }) => ({
      url: `${baseUrl}${path}`,
      summary,
      media_types: replies.flatMap(({ content }) => Object.keys(content ?? {})),
    }));
}

/** Lists the surfaces that have a route, each with its routes; the operator's are nobody else's. */
function listSurfaces(endpoints: readonly Endpoint[]): ApiIndex['surfaces'] {
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

function describeEndpoint({
  id,
  method,
  path,
  summary,
  parameters = {},
}: Endpoint): DescribedRoute {
  const named = [parameters.path, parameters.query].flatMap((schema) =>
    Object.keys(schema?.shape ?? {}),
  );
  return { operation_id: id, method, path, summary, parameters: named };
}

function describeRoute(route: Route): DescribedRoute {
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

/** Lists the formats that a parameter asks for; that of link previews has none. */
function listFormats(): ApiIndex['formats'] {
  // Keys of the table of reads.
  const ids = Object.keys(reads) as ReadId[];
  const whole = Object.entries(formats.post)
    .filter(([name]) => name !== 'preview')
    .map(([name, { mediaType }]) => ({
      name,
      media_type: mediaType,
      reads: [
        ...ids.filter((id) => Object.hasOwn(formats[reads[id].kind], name)),
        ...(Object.hasOwn(historyMediaTypes, name) ? [importProfilePosts.name] : []),
      ],
    }));
  return [
    ...whole,
    { name: 'ndjson', media_type: historyMediaTypes.ndjson, reads: [importProfilePosts.name] },
  ];
}

function describeAuthentication({
  contacts,
  endpoints,
}: DiscoveryFacts): ApiIndex['authentication'] {
  const browsed = [
    ...routes.filter(isBrowseRoute).map(({ path }) => path),
    ...endpoints.filter(({ access }) => access === 'key').map(({ path }) => path),
  ];
  return {
    required: false,
    key: {
      header: 'Authorization',
      scheme: 'Bearer',
      status_header: 'X-Api-Key-Status',
      surfaces: [...new Set(browsed)],
      request_url: contacts.keys,
    },
  };
}

function describeLimits({ limits }: DiscoveryFacts): ApiIndex['limits'] {
  return {
    window_seconds: limits.windowSeconds,
    allowances: [
      {
        policy: 'public',
        units: limits.public,
        applies_to:
          'Profiles, lists and searches without a key that the cache does not answer, for each client address.',
      },
      {
        policy: 'key',
        units: limits.key,
        applies_to: 'The same with a key that has no allowance of its own, for each key.',
      },
      {
        policy: 'post',
        units: limits.post,
        applies_to:
          'Posts, their replies and oEmbed that the cache does not answer, for each client address; keys change nothing.',
      },
    ],
    pool_upstream_requests: limits.pool,
    headers: ['RateLimit-Policy', 'RateLimit', 'Retry-After'],
  };
}
