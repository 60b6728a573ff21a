import type { PathForm } from './forms.ts';

/** Values of the parameters in a path, keyed by the parameter names in the form of the path. */
export type PathParameters = Readonly<Record<string, string>>;

/** Returns the decoded segments without empty ones: extra slashes never change the meaning. */
export const splitPath = (path: string): readonly string[] =>
  path
    .split('/')
    .filter((segment) => segment !== '')
    .map(decodeSegment);

/** Decodes a segment of a path. Returns a segment with invalid percent-encoding unchanged. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Returns the parameters of a path; `null` if the path does not have the form. */
export function matchForm({ path }: PathForm, given: readonly string[]): PathParameters | null {
  const parts = path.slice(1).split('/');
  const isOpenAtStart = parts[0] === '**';
  const isOpenAtEnd = parts.at(-1) === '*';
  const fixed = parts.slice(isOpenAtStart ? 1 : 0, isOpenAtEnd ? -1 : undefined);
  const lastStart = isOpenAtStart ? given.length - fixed.length : 0;
  for (let start = 0; start <= lastStart; start += 1) {
    const end = start + fixed.length;
    if (!isOpenAtEnd && end !== given.length) continue;
    const found = matchParts(fixed, given.slice(start, end));
    if (found !== null) return found;
  }
  return null;
}

function matchParts(parts: readonly string[], given: readonly string[]): PathParameters | null {
  if (parts.length !== given.length) return null;
  const found = parts.map((part, index) => matchPart(part, given[index] ?? ''));
  return found.includes(null) ? null : Object.assign({}, ...found);
}

function matchPart(part: string, segment: string): PathParameters | null {
  const [, before = '', name] = /^([^{]*)\{(\w+)\}$/.exec(part) ?? [];
  if (name === undefined) return part === segment ? {} : null;
  if (!segment.startsWith(before)) return null;
  const value = segment.slice(before.length);
  return name === 'number' && !/^\d+$/.test(value) ? null : { [name]: value };
}

/**
 * Returns the id without a file ending or characters that often follow a URL in text. A URL, the id
 * of an object of ActivityPub, is returned unchanged.
 */
export const cleanId = (segment: string): string =>
  /^https:\/\/.+$/.exec(segment)?.[0] ??
  /^\d+(?![\w-])/.exec(segment)?.[0] ??
  /^[\w.:~-]*[\w~-]/.exec(segment)?.[0] ??
  segment;
