import type { ParsedUrlQuery } from 'node:querystring';
import { parseQuery } from '../../core/http/query.ts';
import { toHeaderDates } from '../../core/lifecycle.ts';
import { redactKeys } from '../../core/redact.ts';
import { parseHandle } from '../../model/reference.ts';
import { findRead, pickParameters } from '../reads/aliases.ts';
import { type AliasRoute, findVersioned, type Route } from '../reads/routes.ts';

/** The headers of every reply of a deprecated route (`docs/contract/reads.md#deprecation-headers`), by lower-case name. */
export interface LifecycleHeaders {
  /** RFC 9745 §2: `@` and Unix seconds. */
  readonly deprecation: string;
  /** RFC 8594 §3: an HTTP-date. */
  readonly sunset: string;
  /** RFC 8288: one value with the links of the relations `successor-version`, `deprecation` and `sunset`. */
  readonly link: string;
}

/** Returns the lifecycle headers of a request by its path and query; `null` if the route has no lifecycle. */
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

/** Returns the address of the versioning policy. */
export function toPolicyUrl(baseUrl: string): string {
  return `${baseUrl}/docs/versioning`;
}

/** Maximum bytes of an address in a `Link`; a longer one goes without its parameters. */
const maxSuccessorBytes = 2048;

/** Returns the v1 address of an alias request; `null` if it names no read, or no handle for a read of an account. */
function toSuccessor(route: AliasRoute, url: string, baseUrl: string): string | null {
  const query = parseQuery(url);
  const read = findRead(route, query);
  if (read === null) return null;
  const { path } = findVersioned(read);
  const parameters = pickParameters(read, query);
  if (!path.includes('{handle}')) return carry(`${baseUrl}${path}`, parameters);
  const { handle, ...others } = parameters;
  const account = typeof handle === 'string' ? parseHandle(handle) : null;
  if (account === null) return null;
  return carry(`${baseUrl}${path.replace('{handle}', encodeURIComponent(account.handle))}`, others);
}

/** Adds parameters to an address, each as often as it was given. */
function carry(address: string, parameters: ParsedUrlQuery): string | null {
  const pairs = Object.entries(parameters).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  if (pairs.length === 0) return address;
  // Its serializer escapes all but letters, digits and `*-._`, and does not fail on half a surrogate.
  const whole = `${address}?${new URLSearchParams(pairs)}`;
  // A key that was sent where it does not belong goes no further, and what is left would be another request.
  if (redactKeys(whole) !== whole) return null;
  return whole.length > maxSuccessorBytes ? address : whole;
}
