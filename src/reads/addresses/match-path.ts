import type { PathForm } from './address-forms.ts';

/** First path segments that the service keeps for itself, so that they are no handles there. */
const reservedName = /^(?:\.well-known|admin|api|docs|health|mcp|metrics|oembed|search|svc)$/;

/** Endings of files that clients ask for by themselves, such as `/favicon.ico`. */
const fileEnding =
  /\.(?:avif|css|gif|html?|ico|jpe?g|js|json|map|pdf|php|png|svg|txt|webmanifest|webp|woff2?|xml)$/i;

/** Returns whether the service keeps a first path segment, in lower case, for itself. */
export const isReservedName = (segment: string): boolean => reservedName.test(segment);

/** Returns whether a first path segment can be a handle on the permalink surface. */
export function isPermalinkHandle(segment: string): boolean {
  const name = segment.replace(/^@/, '').toLowerCase();
  return name !== '' && !isReservedName(name) && !fileEnding.test(name);
}

/** Returns the decoded segments of a path; one trailing slash is dropped. */
export const splitPath = (path: string): readonly string[] =>
  path.slice(1).replace(/\/$/, '').split('/').map(decodeSegment);

/** Decodes a part of a path. One with a broken percent-encoding stays as it is, and matches no form. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The parameters of a path, by the names that its form has in braces. */
export type PathParameters = Readonly<Record<string, string>>;

/** Returns the parameters of a path by its form; null if the path has another form. */
export function matchPath({ path }: PathForm, segments: readonly string[]): PathParameters | null {
  const parts = path.slice(1).split('/');
  if (parts.length !== segments.length) return null;
  const found = parts.map((part, index) => matchPart(part, segments[index] ?? ''));
  return found.includes(null) ? null : Object.assign({}, ...found);
}

function matchPart(part: string, segment: string): PathParameters | null {
  const [, before = '', name] = /^([^{]*)\{(\w+)\}$/.exec(part) ?? [];
  if (name === undefined) return part === segment ? {} : null;
  return segment.startsWith(before) ? { [name]: segment.slice(before.length) } : null;
}

/** Returns whether a path can end with this number of a photo or video. */
export const isMediaNumber = (text: string): boolean => /^[1-9]\d?$/.test(text);

/** Returns the parameters of a read: those of the path and of its form. A hashtag becomes the search text. */
export function toReadParameters(
  { given = {} }: PathForm,
  { n: _photo, tag, ...parameters }: PathParameters,
): PathParameters {
  const search = tag === undefined ? {} : { q: `#${tag.replace(/^#/, '')}` };
  return { ...parameters, ...search, ...given };
}
