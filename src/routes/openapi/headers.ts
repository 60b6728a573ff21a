import type { CacheState } from '../../fetching/plan.ts';
import type { KeyStatus } from '../../lib/caller.ts';
import type { JsonSchema } from '../../lib/json-schema.ts';
import { sourceNames } from '../../model/results.ts';
import { isBrowseRoute, isHistoryRoute, type Route } from '../reads/routes.ts';
import type { EndpointHeader, EndpointHeaders } from '../route.ts';

export const notModified = 'The caller’s copy is still current (`If-None-Match`).';

const text: JsonSchema = { type: 'string' };
const count: JsonSchema = { type: 'integer', minimum: 0 };
const openSet = <Value>(...values: readonly Value[]): JsonSchema => {
  return { ...text, 'x-extensible-enum': values };
};

const sometimes = (description: string) => ({ description, schema: text });

function always(description: string, schema = text) {
  return { required: true, description, schema };
}

/** Response headers for the OpenAPI document (OpenAPI 3.1 §4.8.21). */
export const describedHeaders = {
  'X-Request-Id': always('The id of this request in the operator’s logs.'),
  ETag: sometimes('A strong validator of the body.'),
  'Cache-Control': always(
    '`public, max-age=60` with further directives on reads, and with a longer `max-age` on feeds; `private, no-store` if the request has a key; `no-store` on problems and histories.',
  ),
  Vary: always(
    'The request headers that the response depends on. With a body of more than 1 KiB also `Accept-Encoding`.',
  ),
  Link: sometimes(
    'RFC 8288. `alternate`: the oEmbed document of the post, and the Atom feed of the same posts. On deprecated operations also `successor-version`, `deprecation` and `sunset`.',
  ),
  'Content-Disposition': sometimes(
    'RFC 6266. With `format=obsidian`, a file name made of the author and the first words of the post: `filename` in ASCII with the id of the post, `filename*` without it. Otherwise absent.',
  ),
  'X-Source': always('The provider of the answer.', openSet(...sourceNames)),
  'X-Cache': always(
    'The state of the response cache for this read.',
    openSet<CacheState>('hit', 'miss', 'stale', 'bypass'),
  ),
  'X-Result-Count': always('The number of posts or accounts in the response.', count),
  'X-Search-Degraded': sometimes(
    '`true` if the results of a search are not live; otherwise absent.',
  ),
  'X-Api-Key-Status': always(
    'The status of the bearer key of this request.',
    openSet<KeyStatus>('valid', 'anonymous', 'invalid', 'unverified'),
  ),
  'RateLimit-Policy': always(
    'The allowance: the policy’s name (`public`, `key`, `post` or `media`), `q` units in a window of `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
  ),
  RateLimit: always('The rest of the allowance: `r` units, and `t` seconds until it grows again.'),
  Deprecation: always('The time of the deprecation: `@` and Unix seconds (RFC 9745).', {
    ...text,
    pattern: '^@\\d+$',
  }),
  Sunset: always('The time from which the operation may be removed: an HTTP-date (RFC 8594).'),
  'Retry-After': always('Seconds to wait; exact for the caller’s own allowance.', count),
};

export type HeaderName = keyof typeof describedHeaders;

export function listEndpointHeaders(
  names: readonly HeaderName[],
  presence: Pick<EndpointHeader, 'isOptional'> = {},
): EndpointHeaders {
  return Object.fromEntries(
    names.map((name) => [name, { description: describedHeaders[name].description, ...presence }]),
  );
}

/** Describes response headers for OpenAPI. Without a known schema, a header is a string. */
export function describeHeaders(headers: EndpointHeaders): JsonSchema {
  const known = new Map(Object.entries(describedHeaders));
  const described = Object.entries(headers).map(([name, { description, isOptional }]) => {
    const { schema } = known.get(name) ?? { schema: text };
    return [name, { description, ...(!isOptional && { required: true }), schema }];
  });
  return Object.fromEntries(described);
}

/** Lists the response headers for the statuses 200 and 304. */
export function listReplyHeaders(route: Route): readonly HeaderName[] {
  const { read } = route;
  const hasCache = !isHistoryRoute(route);
  return pick({
    'X-Request-Id': true,
    ETag: hasCache,
    'Cache-Control': true,
    Vary: read !== 'getOEmbed',
    'X-Source': true,
    'X-Cache': hasCache,
    'X-Result-Count': hasCache,
    'X-Search-Degraded': hasCache && isBrowseRoute(route),
    // Only posts can be Obsidian notes and have oEmbed documents.
    'Content-Disposition': read === 'getPost',
    ...pickForRoute(route),
    Link: route.lifecycle !== null || linked.has(String(read)),
  });
}

export const listProblemHeaders = (route: Route, status: number): readonly HeaderName[] =>
  pick({
    'X-Request-Id': true,
    'Cache-Control': true,
    Vary: isBrowseRoute(route),
    'Retry-After': status === 429 || status === 503,
    ...pickForRoute(route),
  });

const pickForRoute = (route: Route) => ({
  'X-Api-Key-Status': isBrowseRoute(route),
  'RateLimit-Policy': true,
  RateLimit: true,
  Deprecation: route.lifecycle !== null,
  Sunset: route.lifecycle !== null,
  Link: route.lifecycle !== null,
});

const linked: ReadonlySet<string> = new Set([
  'getPost',
  'getProfile',
  'listReplies',
  'searchPosts',
]);

/** Returns the names whose value is `true`. */
const pick = (names: Readonly<Partial<Record<HeaderName, boolean>>>) =>
  (Object.keys(names) as HeaderName[]).filter((name) => names[name]); // the type has no other keys

export function referHeaders(names: readonly HeaderName[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
