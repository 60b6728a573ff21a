import { findGrapheme } from '../../lib/text.ts';

/** Code points without control characters, and the new offset of each original one. */
export interface Characters {
  readonly characters: readonly string[];
  /** Offset in `characters` of each original code point, and of the end of the text. */
  readonly positions: readonly number[];
}

const lineEnds: ReadonlySet<string> = new Set(['\r', '\v', '\f', '\u0085', '\u2028', '\u2029']);

/** Removes control characters; line ends become LF, lone surrogates U+FFFD. */
export function toCharacters(text: string): Characters {
  const characters: string[] = [];
  const positions: number[] = [];
  let index = 0;
  for (const point of text) {
    index += point.length;
    positions.push(characters.length);
    const shown = point === '\r' && text[index] === '\n' ? '' : toVisible(point);
    if (shown !== '') characters.push(shown);
  }
  positions.push(characters.length);
  return { characters, positions };
}

function toVisible(point: string): string {
  const code = point.codePointAt(0) ?? 0; // comparing numbers is faster than a regular expression
  if ((code >= 0x20 && code < 0x7f) || point === '\n' || point === '\t') return point;
  if (lineEnds.has(point)) return '\n';
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  const isControl = code < 0x20 || (code >= 0x7f && code <= 0x9f);
  return isControl ? '' : point;
}

/** Removes control characters; line ends become LF, lone surrogates U+FFFD. */
export const toVisibleText = (text: string): string => toCharacters(text).characters.join('');

const invisible = /(?![\t\n\v\f\r\u0085])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;

/** Returns one line without control characters and with single spaces. */
export function toLine(text: string): string {
  return text
    .replace(invisible, '')
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029\p{Zs}]+/gu, ' ')
    .replace(/\p{Cs}/gu, '\ufffd')
    .trim();
}

/** Shortens a line to `maxPoints` code points including `…`, if possible at a space. */
export function cutLine(line: string, maxPoints: number): string {
  const points = [...line];
  if (points.length <= maxPoints) return line;
  const most = points.slice(0, maxPoints - 1).join('').length;
  const end = findGrapheme(line, most) || most;
  const space = line.lastIndexOf(' ', end);
  return `${line.slice(0, space > end / 2 ? space : end).trimEnd()}…`;
}

/** Returns whether a character is Markdown white space (CommonMark 0.31.2 §2.1). */
export function isSpace(character: string | undefined): boolean {
  if (character === undefined) return false;
  if (character < '\u0080') return character === ' ' || character === '\t' || character === '\n';
  return /^\p{Zs}$/u.test(character);
}

/** Returns whether all Markdown parsers treat it as part of a word: letter, digit, mark. */
export const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /^[\p{L}\p{N}\p{M}]$/u.test(character);

const asciiPunctuation = new Set<string | undefined>('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~');

/** Returns whether Markdown can escape the character with a backslash. */
export const isAsciiPunctuation = (character: string | undefined): character is string =>
  asciiPunctuation.has(character);

/**
 * Returns whether Markdown recognizes a marker, such as `**`, that has this character on its outer
 * side. Returns `false` for symbols that are not ASCII, because only some parsers treat them as
 * punctuation.
 */
export function canBeOutsideMarker(character: string | undefined): boolean {
  if (character === undefined || isSpace(character)) return true;
  return (character.length === 1 && /^\p{P}$/u.test(character)) || isAsciiPunctuation(character);
}

/** Returns whether a marker with this inner character works, whatever is on its outer side. */
export const canBeInsideMarker = (character: string | undefined): boolean =>
  character !== undefined && !isSpace(character) && !/^[\p{P}\p{S}]$/u.test(character);
