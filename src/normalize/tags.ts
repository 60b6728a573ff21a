import { hashtagUrl, profileUrl, xSymbolUrl } from '../model/addresses/urls.ts';
import type { Facet } from '../model/post.ts';
import { maximums } from './maximums.ts';
import { nestRuns } from './runs.ts';
import { codePointOffsets, countCodePoints } from './text.ts';

/** Facets that consist of a sign (`@`, `#` or `$`) and a name. */
export type TagType = 'mention' | 'hashtag' | 'symbol';

const signs = /^[@＠#＃$＄]/u;

/** Returns the URL of a tag on X; `null` if the name is empty or cannot be encoded in a URL. */
export function tagUrl(type: TagType, tag: string): string | null {
  const name = tag.replace(signs, '');
  // A lone surrogate cannot be encoded in a URL.
  if (name === '' || /\p{Surrogate}/u.test(name)) return null;
  if (type === 'mention') return profileUrl('x', name, '');
  if (type === 'hashtag') return hashtagUrl('x', name, { baseUrl: '' });
  return xSymbolUrl(name);
}

/** Returns whether two names are equal, ignoring case and the signs `@`, `#` or `$`. */
export function isNamed(slice: string, name: string): boolean {
  if (slice === name) return true;
  // Fast path: lower-casing changes the length of a name by at most a factor of two.
  if (slice.length > 2 * name.length + 2) return false;
  return slice.replace(signs, '').toLowerCase() === name.replace(signs, '').toLowerCase();
}

const before = String.raw`(?<![\p{L}\p{M}\p{N}_/&.=@#-])`;
const names = [
  { type: 'mention', pattern: new RegExp(`${before}@([A-Za-z0-9_]{1,15})(?![A-Za-z0-9_@])`, 'gu') },
  {
    type: 'hashtag',
    pattern: new RegExp(
      `${before}#((?=[\\p{M}\\p{N}]*[\\p{L}_])[\\p{L}\\p{M}\\p{N}_]{1,100})(?![\\p{L}\\p{M}\\p{N}_])`,
      'gu',
    ),
  },
] as const;

/** Finds mentions and hashtags in a post on X whose source sent no list of them. */
export function scanFacets(text: string): readonly Facet[] {
  const toOffset = codePointOffsets(text);
  const found = names.flatMap(({ type, pattern }) =>
    [...text.matchAll(pattern)]
      .slice(0, maximums.facets + 1)
      .map(({ 0: whole, 1: name, index }): Facet => {
        const url = tagUrl(type, name ?? '') ?? undefined;
        return { type, start: toOffset(index), end: toOffset(index + whole.length), url };
      }),
  );
  return nestRuns(found, countCodePoints(text));
}
