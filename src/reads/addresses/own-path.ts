import { encodeComponent, joinParameters, parseQuery } from '../../lib/http/url.ts';
import {
  cleanId,
  matchForm,
  type PathParameters,
  splitPath,
} from '../../model/addresses/match-form.ts';
import type { AddressedRead } from './address.ts';
import { type OwnPath, ownPaths, type PathPattern } from './own-paths.ts';

/** Paths sorted by number of parameters, so that `/search` is tried before `/{handle}`. */
const candidates = ownPaths
  .flatMap((row) => [row, ...(row.also ?? [])].map((pattern) => ({ row, pattern })))
  .toSorted((a, b) => a.pattern.path.split('{').length - b.pattern.path.split('{').length);

/** Returns the read operation; `null` for unknown paths, oEmbed and history imports. */
export function matchOwnPath(path: string, search: string): AddressedRead | null {
  const segments = splitPath(path);
  for (const { row, pattern } of candidates) {
    const parameters = matchForm(pattern, segments);
    if (parameters === null || !accepts(row, pattern, parameters)) continue;
    const { read } = row;
    if (read === 'getOEmbed' || read === 'importProfilePosts') return null;
    const query = parseQuery(search);
    return { read, given: joinParameters(query, toReadParameters(pattern, parameters)) };
  }
  return null;
}

/** Converts parameters in a path to request parameters. Adds the pattern's fixed parameters. */
export function toReadParameters(
  { fixed = {} }: PathPattern,
  { n: _photo, '*': _further, number, id: written = number, tag, ...parameters }: PathParameters,
): PathParameters {
  const id = written === undefined ? {} : { id: cleanId(written) };
  const search = tag === undefined ? {} : { q: `#${tag.replace(/^#/, '')}` };
  return { ...parameters, ...id, ...search, ...fixed };
}

/** Returns whether a route accepts the handle in a path; `true` for a path without one. */
export function accepts(
  { surface }: Pick<OwnPath, 'surface'>,
  { handles }: PathPattern,
  { handle }: PathParameters,
): boolean {
  if (handle === undefined) return true;
  if (handles?.test(handle) === false) return false;
  return surface !== 'permalink' || isPermalinkHandle(handle);
}

/** Returns the path and query of a read. `permalink` falls back to the API's path (`v1`). */
export function toOwnPath({ read, given }: AddressedRead, surface: OwnPath['surface']): string {
  const { handle, url } = given;
  if (typeof url === 'string' && surface === 'permalink') return `/${encodeComponent(url)}`;
  const isShort = typeof handle === 'string' && isPermalinkHandle(handle);
  const rows = ownPaths.filter((one) => one.read === read);
  const fits = ({ path }: OwnPath) => !path.includes('{handle}') || isShort;
  const row =
    rows.find((one) => one.surface === surface && fits(one)) ??
    rows.find((one) => one.surface === 'v1');
  if (row === undefined) throw new Error(`The read ${read} has no path.`);
  const inPath = new Set([...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  // Paths allow `@` and `:`, and handles are easier to read with them.
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeComponent(String(given[name])).replaceAll('%40', '@').replaceAll('%3A', ':'),
  );
  const others = Object.entries(given).filter(([name]) => !inPath.has(name));
  const query = others.flatMap(([name, values = []]) =>
    [values].flat().map((value) => `${encodeComponent(name)}=${encodeComponent(value)}`),
  );
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

/** Reserved first path segments, which belong to the server and cannot be handles. */
const reservedName = /^(?:\.well-known|admin|api|docs|health|mcp|metrics|oembed|search|svc)$/;

const fileEnding =
  /\.(?:atom|avif|css|gif|html?|ico|jpe?g|js|json|map|pdf|php|png|rss|svg|txt|webmanifest|webp|woff2?|xml)$/i;

/** Returns whether a first path segment, in lower case, belongs to the server's own paths. */
export const isReservedName = (segment: string): boolean => reservedName.test(segment);

/** Returns whether the first segment of a path such as `/jack/status/20` can be a handle. */
export function isPermalinkHandle(segment: string): boolean {
  const name = segment.replace(/^@/, '').toLowerCase();
  return name !== '' && !isReservedName(name) && !fileEnding.test(name);
}
