import type { KeyStatus } from '../../core/caller.ts';
import type { EndpointHeader, EndpointHeaders } from '../../core/endpoint.ts';
import type { JsonSchema } from '../../core/json-schema.ts';
import type { CacheState } from '../../fetching/plan.ts';
import { sourceNames } from '../../model/results.ts';
import { isBrowseRoute, isHistoryRoute, type Route } from '../reads/routes.ts';

const cacheStates: readonly CacheState[] = ['hit', 'miss', 'stale', 'bypass'];
const keyStatuses: readonly KeyStatus[] = ['valid', 'anonymous', 'invalid', 'unverified'];

export const notModified = 'The caller has these bytes already (`If-None-Match`).';

const text: JsonSchema = { type: 'string' };

function always(description: string, schema = text) {
  return { required: true, description, schema };
}

function sometimes(description: string, schema = text) {
  return { description, schema };
}

/** The response headers of the machine description (OpenAPI 3.1 §4.8.21). */
export const describedHeaders = {
  'X-Request-Id': always('Names this request in the logs of the operator.'),
  ETag: sometimes('A strong validator of these bytes.'),
  'Cache-Control': always(
    '`public, max-age=60` and more on what was read; `private, no-store` where a key was presented; `no-store` on problems and histories.',
  ),
  Vary: always('The request headers that chose this reply.'),
  Link: sometimes(
    'RFC 8288. `alternate`: the oEmbed document of the post. On deprecated operations also `successor-version`, `deprecation` and `sunset`.',
  ),
  'Content-Disposition': sometimes(
    'RFC 6266. With `format=obsidian` the name of the file for a vault, made of the author and the first words of the post; otherwise absent.',
  ),
  'X-Source': always('The provider that answered.', {
    ...text,
    'x-extensible-enum': sourceNames,
  }),
  'X-Cache': always('Whether the response cache answered.', {
    ...text,
    'x-extensible-enum': cacheStates,
  }),
  'X-Result-Count': always('How many posts or accounts the reply has.', {
    type: 'integer',
    minimum: 0,
  }),
  'X-Search-Degraded': sometimes(
    '`true` where the results of a search are not live; otherwise absent.',
  ),
  'X-Api-Key-Status': always('What the bearer key of this request is worth.', {
    ...text,
    'x-extensible-enum': keyStatuses,
  }),
  'RateLimit-Policy': always(
    'The allowance: the policy’s name (`public`, `key` or `post`), `q` units in a window of `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
  ),
  RateLimit: always('What is left of it: `r` units, and `t` seconds until there are more.'),
  Deprecation: always('When the operation is deprecated: `@` and Unix seconds (RFC 9745).', {
    ...text,
    pattern: '^@\\d+$',
  }),
  Sunset: always('When it may stop answering: an HTTP-date (RFC 8594).'),
  'Retry-After': always('Seconds to wait; exact for the caller’s own allowance.', {
    type: 'integer',
    minimum: 0,
  }),
};

export type HeaderName = keyof typeof describedHeaders;

/** Returns headers with their usual descriptions, for a table of endpoints. */
export function listEndpointHeaders(
  names: readonly HeaderName[],
  presence: Pick<EndpointHeader, 'isOptional'> = {},
): EndpointHeaders {
  return Object.fromEntries(
    names.map((name) => [name, { description: describedHeaders[name].description, ...presence }]),
  );
}

export function isHeaderName(name: string): name is HeaderName {
  return Object.hasOwn(describedHeaders, name);
}

/** Lists the headers of a successful read, which a 304 has too. */
export function listReplyHeaders(route: Route): readonly HeaderName[] {
  if (isHistoryRoute(route)) {
    return ['X-Request-Id', 'Cache-Control', 'Vary', 'X-Source', ...listRouteHeaders(route)];
  }
  const { read, lifecycle } = route;
  return [
    'X-Request-Id',
    'ETag',
    'Cache-Control',
    ...pick('Vary', read !== 'getOEmbed'),
    'X-Source',
    'X-Cache',
    'X-Result-Count',
    ...pick('X-Search-Degraded', isBrowseRoute(route)),
    // Posts can be notes for a vault, and have oEmbed documents.
    ...pick('Content-Disposition', read === 'getPost'),
    ...listRouteHeaders(route),
    ...pick('Link', read === 'getPost' && lifecycle === null),
  ];
}

export function listProblemHeaders(route: Route, status: number): readonly HeaderName[] {
  return [
    'X-Request-Id',
    'Cache-Control',
    ...pick('Vary', isBrowseRoute(route)),
    ...pick('Retry-After', status === 429 || status === 503),
    ...listRouteHeaders(route),
  ];
}

function listRouteHeaders(route: Route): readonly HeaderName[] {
  const lifecycle = ['Deprecation', 'Sunset', 'Link'] as const;
  return [
    ...pick('X-Api-Key-Status', isBrowseRoute(route)),
    'RateLimit-Policy',
    'RateLimit',
    ...(route.lifecycle === null ? [] : lifecycle),
  ];
}

function pick(name: HeaderName, isIncluded: boolean): readonly HeaderName[] {
  return isIncluded ? [name] : [];
}

/** Returns references to headers that are described under `components`. */
export function referHeaders(names: readonly HeaderName[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
