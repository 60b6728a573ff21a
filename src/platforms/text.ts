import { parseUrl } from '../core/http/url.ts';

/** Splits text into Unicode code points, the unit of every offset on X. */
export function toCodePoints(text: string): readonly string[] {
  return Array.from(text);
}

/** Counts the Unicode code points of a text, without a list of them. */
export function countCodePoints(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    if ((text.codePointAt(index) ?? 0) > 0xffff) index += 1;
    count += 1;
  }
  return count;
}

/** Returns a function from an index into `text` (UTF-16 code units) to the offset of its code point. */
export function codePointOffsets(text: string): (index: number) => number {
  const offsets = new Uint32Array(text.length + 1);
  let index = 0;
  let offset = 0;
  for (const point of text) {
    offsets.fill(offset, index, index + point.length);
    index += point.length;
    offset += 1;
  }
  offsets[index] = offset;
  return (at) => offsets[at] ?? offset;
}

const characters = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
const entities: ReadonlyMap<string, string> = new Map(Object.entries(characters));

/** Decodes the five HTML entities that X encodes, each once. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities.get(entity) ?? entity);
}

/** A text without its HTML entities, and the places of the code points of the encoded text in it. */
export interface DecodedText {
  readonly text: string;
  readonly length: number;
  /** Returns the index in `text` (UTF-16 code units) of a code point; the end for one after the last. */
  toIndex(codePoint: number): number;
}

/** Decodes as `decodeEntities` does. Code points within an entity have its place. */
export function decodeWithOffsets(encoded: string): DecodedText {
  // Without entities and characters of more than one UTF-16 code unit each place is its index.
  if (!/[&\ud800-\udfff]/.test(encoded)) {
    const { length } = encoded;
    const toIndex = (codePoint: number) => (encoded[codePoint] === undefined ? length : codePoint);
    return { text: encoded, length, toIndex };
  }
  const indices: number[] = [];
  let index = 0;
  for (const part of encoded.split(/(&(?:amp|lt|gt|quot|#39);)/)) {
    const isEntity = entities.has(part);
    for (const point of part) {
      indices.push(index);
      if (!isEntity) index += point.length;
    }
    if (isEntity) index += 1;
  }
  const toIndex = (codePoint: number) => indices[codePoint] ?? index;
  return { text: decodeEntities(encoded), length: indices.length, toIndex };
}

/** Returns whether a text is an absolute http or https URL, the only ones that are linked. */
export function isWebUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && parseUrl(text) !== null;
}

/** Returns a URL of the web; `null` for anything else. */
export function webUrlOrNull(url: string | null): string | null {
  return url !== null && isWebUrl(url) ? url : null;
}

const searched = 64;

/**
 * Returns at most `max` UTF-16 code units of a text, cut between two characters as readers see them (UAX
 * #29), as long as those are not made of dozens of marks.
 */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const from = Math.max(0, max - searched);
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
  const index = segmenter.segment(text.slice(from, max + searched)).containing(max - from)?.index;
  if (index !== undefined && index > 0) return text.slice(0, from + index);
  // All of the searched text is one character.
  const splitsPair = (text.codePointAt(max - 1) ?? 0) > 0xffff;
  return text.slice(0, splitsPair ? max - 1 : max);
}

/** Returns a text of at most `max` UTF-16 code units; one that is cut ends in an ellipsis. */
export function shorten(text: string, max: number): string {
  return text.length <= max ? text : `${cutText(text, max - 1)}…`;
}
