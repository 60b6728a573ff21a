import { toHeaderDates } from '../core/lifecycle.ts';
import type { Route } from './routes.ts';
import { toSuccessor } from './successors.ts';

/** The signals of a deprecated route, by lower-case name: for every reply of it, whatever its status. */
export interface LifecycleHeaders {
  /** RFC 9745 §2: `@` and Unix seconds. */
  readonly deprecation: string;
  /** RFC 8594 §3: an HTTP-date. */
  readonly sunset: string;
  /** RFC 8288: one value with the links of the relations `successor-version`, `deprecation` and `sunset`. */
  readonly link: string;
}

/**
 * Gives the headers that a route's lifecycle adds to the replies to a request; null where it has no
 * lifecycle. They depend on the table and the URL alone, not on the clock (spec: Route lifecycle).
 *
 * @param url The path and query of the request, as they came.
 * @param baseUrl Perch's own address, without a trailing slash.
 */
export function toLifecycleHeaders(
  route: Route,
  url: string,
  baseUrl: string,
): LifecycleHeaders | null {
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

/** Gives the address of the page that states the policy. */
export function toPolicyUrl(baseUrl: string): string {
  return `${baseUrl}/docs/versioning`;
}
