/** Code points of a text after the removal of control characters, and the new offset of each original code point. */
export interface Characters {
  readonly characters: readonly string[];
  /** Offset in `characters` for each code point of the original text, and for the end of the text. */
  readonly positions: readonly number[];
}

const lineEnds: ReadonlySet<string> = new Set(['\r', '\v', '\f', '\u0085', '\u2028', '\u2029']);

/**
 * Splits a text into code points. Removes control characters, and converts line ends to `\n` and
 * lone surrogates to U+FFFD.
 */
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

/** Removes control characters from a text, and converts line ends to `\n` and lone surrogates to U+FFFD. */
export const toVisibleText = (text: string): string => toCharacters(text).characters.join('');

const invisible = /(?![\t\n\v\f\r\u0085])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;

/** Returns a text on one line, without control characters. Replaces each run of white space with one space. */
export function toLine(text: string): string {
  return text
    .replace(invisible, '')
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029\p{Zs}]+/gu, ' ')
    .replace(/\p{Cs}/gu, '\ufffd')
    .trim();
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Shortens a line to at most `maxPoints` code points, including the final `…`. Prefers to cut at a space. */
export function cutLine(line: string, maxPoints: number): string {
  const points = [...line];
  if (points.length <= maxPoints) return line;
  const most = points.slice(0, maxPoints - 1).join('').length;
  const end = graphemes.segment(line).containing(most)?.index || most;
  const space = line.lastIndexOf(' ', end);
  return `${line.slice(0, space > end / 2 ? space : end).trimEnd()}…`;
}

/** Returns whether Markdown counts a character as white space (CommonMark 0.31.2 §2.1). */
export function isSpace(character: string | undefined): boolean {
  if (character === undefined) return false;
  if (character < '\u0080') return character === ' ' || character === '\t' || character === '\n';
  return /^\p{Zs}$/u.test(character);
}

/**
 * Returns whether a character is a letter, digit or combining mark. All Markdown parsers treat
 * these characters as parts of words.
 */
export const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /^[\p{L}\p{N}\p{M}]$/u.test(character);

const asciiPunctuation = new Set<string | undefined>('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~');

/** Returns whether a character is ASCII punctuation, which Markdown can escape with a backslash. */
export const isAsciiPunctuation = (character: string | undefined): character is string =>
  asciiPunctuation.has(character);

/**
 * Returns whether Markdown recognizes a marker, such as `**`, if this character is on the outer side of the marker.
 * Returns `false` for symbols that are not ASCII, because only some parsers treat such symbols as punctuation.
 */
export function canBeOutsideMarker(character: string | undefined): boolean {
  if (character === undefined || isSpace(character)) return true;
  return (character.length === 1 && /^\p{P}$/u.test(character)) || isAsciiPunctuation(character);
}

/**
 * Returns whether Markdown recognizes a marker, such as `**`, if this character is on the inner side of the marker,
 * whatever character is on the outer side.
 */
export const canBeInsideMarker = (character: string | undefined): boolean =>
  character !== undefined && !isSpace(character) && !/^[\p{P}\p{S}]$/u.test(character);
