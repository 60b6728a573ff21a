import type { PathPattern } from './path-patterns.ts';

/** Pattern of reserved first path segments, which belong to the server's own paths and cannot be handles. */
const reservedName = /^(?:\.well-known|admin|api|docs|health|mcp|metrics|oembed|search|svc)$/;

/** Pattern of file extensions. A path segment with such an extension, as in `/favicon.ico`, is not a handle. */
const fileEnding =
  /\.(?:avif|css|gif|html?|ico|jpe?g|js|json|map|pdf|php|png|svg|txt|webmanifest|webp|woff2?|xml)$/i;

/** Returns whether the first segment of a path, in lower case, is reserved for the server's own paths. */
export const isReservedName = (segment: string): boolean => reservedName.test(segment);

/** Returns whether the first segment of a path such as `/jack/status/20` can be a handle. */
export function isPermalinkHandle(segment: string): boolean {
  const name = segment.replace(/^@/, '').toLowerCase();
  return name !== '' && !isReservedName(name) && !fileEnding.test(name);
}

/** Returns the decoded segments of a path. Drops one trailing slash. */
export const splitPath = (path: string): readonly string[] =>
  path.slice(1).replace(/\/$/, '').split('/').map(decodeSegment);

/** Decodes a segment of a path. Returns a segment with invalid percent-encoding unchanged. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Values of the parameters in a path, keyed by the parameter names in the path pattern. */
export type PathParameters = Readonly<Record<string, string>>;

/** Returns the parameters of a path; `null` if the path does not match the pattern. */
export function matchPath({ path }: PathPattern, given: readonly string[]): PathParameters | null {
  const parts = path.slice(1).split('/');
  if (parts.length !== given.length) return null;
  const found = parts.map((part, index) => matchPart(part, given[index] ?? ''));
  return found.includes(null) ? null : Object.assign({}, ...found);
}

function matchPart(part: string, segment: string): PathParameters | null {
  const [, before = '', name] = /^([^{]*)\{(\w+)\}$/.exec(part) ?? [];
  if (name === undefined) return part === segment ? {} : null;
  return segment.startsWith(before) ? { [name]: segment.slice(before.length) } : null;
}

/** Returns whether `text` is a number from 1 to 99, as in paths of photos and videos (`/photo/1`). */
export const isMediaNumber = (text: string): boolean => /^[1-9]\d?$/.test(text);

/** Converts the parameters in a path to request parameters. Adds the fixed parameters of the path pattern. */
export function toReadParameters(
  { fixed = {} }: PathPattern,
  { n: _photo, tag, ...parameters }: PathParameters,
): PathParameters {
  const search = tag === undefined ? {} : { q: `#${tag.replace(/^#/, '')}` };
  return { ...parameters, ...search, ...fixed };
}
