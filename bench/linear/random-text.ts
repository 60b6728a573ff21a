/** A source of random numbers that depend on its seed alone. */
export interface Chance {
  /** Returns a number from 0 up to, and without, `most`. */
  below(most: number): number;
  pick<Value>(values: readonly [Value, ...Value[]]): Value;
  /** Returns a chance of its own, which does not depend on how much was taken from this one. */
  for(name: string): Chance;
}

/** Creates a chance from a text, such as a seed and the name of a case (mulberry32). */
export function createChance(seed: string): Chance {
  let state = [...seed].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7);
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (most: number) => Math.floor(next() * most);
  return {
    below,
    pick: (values) => values[below(values.length)] ?? values[0],
    for: (name) => createChance(`${seed} ${name}`),
  };
}

type Pieces = readonly [string, ...string[]];

/** A kind of hostile text. */
export type Theme = 'spaces' | 'markers' | 'brackets' | 'html' | 'links' | 'scripts' | 'words';

/** Pieces of which hostile texts consist, by what they try to be. */
const pieces: Readonly<Record<Theme, Pieces>> = {
  spaces: [' ', '\t', '\n', '\u00a0', '\r\n', 'a\n\n', '  \n', '\u2028'],
  markers: ['*', '_', '~', '`', '**', '``', '$', '==', '%%', '\\', '|', '- ', '> ', '#', '1. '],
  brackets: ['[', ']', '(', ')', '](', '![', '[^', ']:', '[[', '<', '>', '{', '}'],
  html: ['<b>', '</b>', '<!--', '-->', '<img src=x>', '&lt;', '&#60;', '&', '<a href="', '<li>'],
  links: [
    'https://a.example/',
    'www.a.b/',
    'http:',
    '//',
    '@a@b.example',
    'a@b.cc',
    '#tag',
    'a.co',
  ],
  scripts: ['é', 'я', '字', 'א', '😀', '👩‍💻', '\u0301', '\u200d', '\ud83d', '。', '「', 'ﷺ'],
  words: ['heron ', 'mill ', 'a', 'B', '7', '.', ', ', '-', "'", ':'],
};

/** Every kind of hostile text. */
export const themes = Object.keys(pieces) as readonly Theme[]; // the names of the table above

/** Different texts among the rows of a list. The same ones come again, so that twice the rows are twice the work. */
const rowTexts = 16;

/** Writes the short text of a row. */
export function writeRowText(chance: Chance, row: number, length: number): string {
  return writeAnyText(chance.for(String(row % rowTexts)), length);
}

/** Writes a random text of a random kind. */
export function writeAnyText(chance: Chance, length: number): string {
  return writeText(chance, themes[chance.below(themes.length)] ?? 'words', length);
}

/**
 * Writes a random text of about so many characters. It uses few of the pieces of a theme, so that it has
 * long runs of one piece, and the same ones whatever its length.
 */
export function writeText(chance: Chance, theme: Theme, length: number): string {
  const vocabulary = [chance.pick(pieces[theme]), chance.pick(pieces[theme])] as const;
  const others: readonly [Theme, ...Theme[]] = ['words', 'links', 'markers', 'html'];
  const other = chance.pick(pieces[chance.pick(others)]);
  const parts: string[] = [];
  for (let written = 0; written < length; ) {
    const piece = chance.below(20) === 0 ? other : chance.pick(vocabulary);
    const run = piece.repeat(Math.min(length, 1 + chance.below(chance.below(8) === 0 ? 400 : 4)));
    parts.push(run);
    written += run.length;
  }
  return parts.join('').slice(0, length);
}
