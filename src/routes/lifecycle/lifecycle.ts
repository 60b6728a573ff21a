import type { ParsedUrlQuery } from 'node:querystring';
import type { FastifyInstance } from 'fastify';
import { parseQuery } from '../../lib/http/url.ts';
import { lifecycleState, toHeaderDates, toIsoDates } from '../../lib/lifecycle.ts';
import { redactKeys } from '../../lib/redact.ts';
import { parseHandle } from '../../model/reference.ts';
import {
  type AliasRoute,
  aliasRoutes,
  findRead,
  findVersioned,
  pickParameters,
  type Route,
} from '../reads/routes.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    deprecated?: AliasRoute;
  }
}

/** Adds deprecation headers to the replies of deprecated routes (docs/versioning.md). */
export function setLifecycle(app: FastifyInstance, baseUrl: string): void {
  app.addHook('onSend', ({ routeOptions, raw }, reply, payload, done) => {
    const { deprecated } = routeOptions.config;
    const headers = deprecated && toLifecycleHeaders(deprecated, raw.url ?? '', baseUrl);
    if (headers) {
      // `Link` may contain several links (RFC 8288 §3).
      const link = [headers.link, reply.getHeader('link') ?? []].flat().join(', ');
      reply.headers({ ...headers, link });
    }
    done(null, payload);
  });
}

/**
 * Returns the headers `Deprecation`, `Sunset` and `Link`
 * (`docs/contract/reads.md#deprecation-headers`; RFC 9745 §2, RFC 8594 §3, RFC 8288); `null` if the
 * route is not deprecated.
 */
export function toLifecycleHeaders(route: Route, url: string, baseUrl: string) {
  if (route.lifecycle === null) return null;
  const successor = route.surface === 'alias' ? toSuccessor(route, url, baseUrl) : null;
  const policy = toPolicyUrl(baseUrl);
  const links = [
    ...(successor === null ? [] : [`<${successor}>; rel="successor-version"`]),
    `<${policy}>; rel="deprecation"; type="text/html"`,
    `<${policy}>; rel="sunset"; type="text/html"`,
  ];
  return { ...toHeaderDates(route.lifecycle), link: links.join(', ') };
}

const toPolicyUrl = (baseUrl: string) => `${baseUrl}/docs/versioning`;

/** Maximum bytes of the v1 URL in a `Link` header; a longer URL loses its query. */
const maxSuccessorBytes = 2048;

function toSuccessor(route: AliasRoute, url: string, baseUrl: string): string | null {
  const query = parseQuery(url);
  const read = findRead(route, query);
  if (read === null) return null;
  const { path } = findVersioned(read);
  const parameters = pickParameters(read, query);
  if (!path.includes('{handle}')) return addParameters(`${baseUrl}${path}`, parameters);
  const { handle, ...others } = parameters;
  const account = typeof handle === 'string' ? parseHandle(handle) : null;
  if (account === null) return null;
  const handlePath = path.replace('{handle}', encodeURIComponent(account.handle));
  return addParameters(`${baseUrl}${handlePath}`, others);
}

function addParameters(address: string, parameters: ParsedUrlQuery): string | null {
  const pairs = Object.entries(parameters).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  if (pairs.length === 0) return address;
  // `URLSearchParams` escapes all but letters, digits and `*-._`, and accepts unpaired surrogates.
  const whole = `${address}?${new URLSearchParams(pairs)}`;
  // An API key in the query must not be repeated, and the URL without the key is another request.
  if (redactKeys(whole) !== whole) return null;
  return whole.length > maxSuccessorBytes ? address : whole;
}

const major = 'v1';

/** Returns the value of `x-api-lifecycle` in the OpenAPI document. */
export function describeLifecycle(baseUrl: string) {
  return {
    current_major_version: major,
    supported_versions: [major],
    minimum_support_window_months: 12,
    deprecation_signals: ['Deprecation', 'Sunset', 'Link'],
    deprecation_policy_url: toPolicyUrl(baseUrl),
    deprecated_operations: aliasRoutes.map((route) => {
      const { deprecation: deprecated, sunset } = toIsoDates(route.lifecycle);
      const { id: operationId, path } = route;
      return { operationId, path, deprecated, sunset, ...describeReplacement(route) };
    }),
  };
}

/** Returns the member `versioning` of the document at `/api`, for the time `nowMs`. */
export function describeVersioning(baseUrl: string, nowMs: number) {
  return {
    current: major,
    base_path: `/api/${major}`,
    policy_url: toPolicyUrl(baseUrl),
    deprecated_aliases: aliasRoutes.map((route) => {
      const iso = toIsoDates(route.lifecycle);
      return {
        path: route.path,
        ...toHeaderDates(route.lifecycle),
        deprecation_iso: iso.deprecation,
        sunset_iso: iso.sunset,
        state: lifecycleState(route.lifecycle, nowMs),
        ...describeReplacement(route),
      };
    }),
  };
}

/** Returns the v1 path that replaces a deprecated route, or one for each of its operations. */
export function describeReplacement({ read }: AliasRoute) {
  if (typeof read === 'string') return { successor: findVersioned(read).path };
  const paths = Object.entries(read.reads).map(
    ([value, id]) => [value, findVersioned(id).path] as const,
  );
  return { successor_parameter: read.parameter, successors: Object.fromEntries(paths) };
}
