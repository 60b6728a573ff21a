import { parseUrl } from '../lib/http/url.ts';
import { findGrapheme } from '../lib/text.ts';

/** Splits text into Unicode code points, the unit of all offsets on X. */
export const toCodePoints = (text: string): readonly string[] => Array.from(text);

/** Counts without allocating a list. */
export function countCodePoints(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    if ((text.codePointAt(index) ?? 0) > 0xffff) index += 1;
    count += 1;
  }
  return count;
}

/** Creates a function that converts a UTF-16 index in `text` to an offset in code points. */
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

/** Decodes the five HTML entities that X uses, only once in a text that was encoded twice. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities.get(entity) ?? entity);
}

/** Decoded text, and a function that converts offsets from the encoded text. */
export interface DecodedText {
  readonly text: string;
  /** Number of code points before the HTML entities were decoded. */
  readonly length: number;
  /** Converts an encoded code point offset to a UTF-16 index in `text`, at most its length. */
  toIndex(codePoint: number): number;
}

export function decodeWithOffsets(encoded: string): DecodedText {
  // Without entities and surrogate pairs, offsets and indices are equal.
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

export function isWebUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && parseUrl(text) !== null;
}

/** Returns an absolute http or https URL unchanged; `null` for any other value. */
export const webUrlOrNull = (url: string | null): string | null =>
  url !== null && isWebUrl(url) ? url : null;

const searched = 64; // UTF-16 code units around a cut that are searched for a grapheme boundary

/** Cuts a text to `max` UTF-16 code units, at a grapheme boundary (UAX #29) if one is near. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const from = Math.max(0, max - searched);
  const index = findGrapheme(text.slice(from, max + searched), max - from);
  if (index !== undefined && index > 0) return text.slice(0, from + index);
  // The searched text is a single grapheme.
  const splitsPair = (text.codePointAt(max - 1) ?? 0) > 0xffff;
  return text.slice(0, splitsPair ? max - 1 : max);
}

/** Cuts a text to `max` UTF-16 code units. A text that was cut ends with an ellipsis. */
export const shorten = (text: string, max: number): string =>
  text.length <= max ? text : `${cutText(text, max - 1)}…`;
