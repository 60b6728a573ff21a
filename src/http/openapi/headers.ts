import type { KeyStatus } from '../../core/caller.ts';
import type { EndpointHeader, EndpointHeaders } from '../../core/endpoint.ts';
import type { JsonSchema } from '../../core/json-schema.ts';
import type { CacheState } from '../../fetching/plan.ts';
import { sourceNames } from '../../model/results.ts';
import { isBrowseRoute, isHistoryRoute, type Route } from '../reads/routes.ts';

const cacheStates = ['hit', 'miss', 'stale', 'bypass'] as const satisfies readonly CacheState[];
const keyStatuses = [
  'valid',
  'anonymous',
  'invalid',
  'unverified',
] as const satisfies readonly KeyStatus[];

/** A response header (OpenAPI 3.1 §4.8.21). */
export interface HeaderObject {
  readonly description: string;
  /** True where every reply that is described with it has it. */
  readonly required?: true;
  readonly schema: JsonSchema;
}

/** What a 304 says, whatever was asked for. */
export const notModified = 'The caller has these bytes already (`If-None-Match`).';

/** The response headers that the machine description tells of. */
export const describedHeaders = {
  'X-Request-Id': {
    required: true,
    description: 'Names this request in the logs of the operator.',
    schema: { type: 'string' },
  },
  ETag: { description: 'A strong validator of these bytes.', schema: { type: 'string' } },
  'Cache-Control': {
    required: true,
    description:
      '`public, max-age=60` and more on what was read; `private, no-store` where a key was presented; `no-store` on problems and histories.',
    schema: { type: 'string' },
  },
  Vary: {
    required: true,
    description: 'The request headers that chose this reply.',
    schema: { type: 'string' },
  },
  Link: {
    description:
      'RFC 8288. `alternate`: the oEmbed document of the post. On deprecated operations also `successor-version`, `deprecation` and `sunset`.',
    schema: { type: 'string' },
  },
  'Content-Disposition': {
    description:
      'RFC 6266. With `format=obsidian` the name of the file for a vault, made of the author and the first words of the post; otherwise absent.',
    schema: { type: 'string' },
  },
  'X-Source': {
    required: true,
    description: 'The provider that answered.',
    schema: { type: 'string', 'x-extensible-enum': sourceNames },
  },
  'X-Cache': {
    required: true,
    description: 'Whether the response cache answered.',
    schema: { type: 'string', 'x-extensible-enum': cacheStates },
  },
  'X-Result-Count': {
    required: true,
    description: 'How many posts or accounts the reply has.',
    schema: { type: 'integer', minimum: 0 },
  },
  'X-Search-Degraded': {
    description: '`true` where the results of a search are not live; otherwise absent.',
    schema: { type: 'string' },
  },
  'X-Api-Key-Status': {
    required: true,
    description: 'What the bearer key of this request is worth.',
    schema: { type: 'string', 'x-extensible-enum': keyStatuses },
  },
  'RateLimit-Policy': {
    required: true,
    description:
      'The allowance: the policy’s name (`public`, `key` or `post`), `q` units in a window of `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
    schema: { type: 'string' },
  },
  RateLimit: {
    required: true,
    description: 'What is left of it: `r` units, and `t` seconds until there are more.',
    schema: { type: 'string' },
  },
  Deprecation: {
    required: true,
    description: 'When the operation is deprecated: `@` and Unix seconds (RFC 9745).',
    schema: { type: 'string', pattern: '^@\\d+$' },
  },
  Sunset: {
    required: true,
    description: 'When it may stop answering: an HTTP-date (RFC 8594).',
    schema: { type: 'string' },
  },
  'Retry-After': {
    required: true,
    description: 'Seconds to wait; exact for the caller’s own allowance.',
    schema: { type: 'integer', minimum: 0 },
  },
} as const satisfies Readonly<Record<string, HeaderObject>>;

/** The name of a header that is described. */
export type HeaderName = keyof typeof describedHeaders;

/** Gives headers with their usual descriptions, for a table of endpoints. */
export function listEndpointHeaders(
  names: readonly HeaderName[],
  presence: Pick<EndpointHeader, 'isOptional'> = {},
): EndpointHeaders {
  return Object.fromEntries(
    names.map((name) => [name, { description: describedHeaders[name].description, ...presence }]),
  );
}

/** Tells whether a header is described by its name. */
export function isHeaderName(name: string): name is HeaderName {
  return Object.hasOwn(describedHeaders, name);
}

/** Gives the headers of what was read, also of a 304. */
export function listReplyHeaders(route: Route): readonly HeaderName[] {
  if (isHistoryRoute(route)) {
    return ['X-Request-Id', 'Cache-Control', 'Vary', 'X-Source', ...listRouteHeaders(route)];
  }
  const isBrowse = isBrowseRoute(route);
  const isEmbed = route.read === 'getOEmbed';
  return [
    'X-Request-Id',
    'ETag',
    'Cache-Control',
    ...(isEmbed ? [] : (['Vary'] as const)),
    'X-Source',
    'X-Cache',
    'X-Result-Count',
    ...(isBrowse ? (['X-Search-Degraded'] as const) : []),
    ...(hasNotes(route) ? (['Content-Disposition'] as const) : []),
    ...listRouteHeaders(route),
    ...(hasEmbed(route) && route.lifecycle === null ? (['Link'] as const) : []),
  ];
}

/** Returns whether replies can be notes for a vault: a post read has that format. */
function hasNotes({ read }: Route): boolean {
  const possible = typeof read === 'string' ? [read] : Object.values(read.reads);
  return possible.includes('getPost');
}

/** Returns whether replies name an oEmbed document: those of a post do. */
function hasEmbed({ read }: Route): boolean {
  return read === 'getPost';
}

/** Gives the headers of a problem of a route. */
export function listProblemHeaders(route: Route, status: number): readonly HeaderName[] {
  return [
    'X-Request-Id',
    'Cache-Control',
    ...(isBrowseRoute(route) ? (['Vary'] as const) : []),
    ...(status === 429 || status === 503 ? (['Retry-After'] as const) : []),
    ...listRouteHeaders(route),
  ];
}

/** What every reply of a route has: allowance, key, lifecycle. */
function listRouteHeaders(route: Route): readonly HeaderName[] {
  return [
    ...(isBrowseRoute(route) ? (['X-Api-Key-Status'] as const) : []),
    'RateLimit-Policy',
    'RateLimit',
    ...(route.lifecycle === null ? [] : (['Deprecation', 'Sunset', 'Link'] as const)),
  ];
}

/** Gives the references to headers that are described under `components`. */
export function referHeaders(names: readonly HeaderName[]): JsonSchema {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const),
  );
}
