import { createHash } from 'node:crypto';

/** Removes the given characters (UTF-16 code units) from the end of a text in linear time. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Returns a heading's URL fragment as on GitHub: `Keys and limits` becomes `keys-and-limits`. */
export function toSlug(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

let graphemes: Intl.Segmenter | undefined; // slow to create

/** Returns the start of the grapheme (UAX #29) at an index of a text; `undefined` past its end. */
export function findGrapheme(text: string, index: number): number | undefined {
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return graphemes.segment(text).containing(index)?.index;
}

const maxLength = 80;

/** Returns a file name, distinct without case: UTF-8 bytes other than `a-z0-9_-` become `=xx`. */
export function toFileId(id: string): string {
  const bytes = Buffer.from(id).toString('latin1');
  const safe = bytes.replace(/[^a-z0-9_-]/g, (byte) => {
    return `=${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  if (safe.length <= maxLength) return safe;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 16);
  return `${safe.slice(0, 60)}=${hash}`;
}
