/** Random number generator whose numbers depend only on its seed. */
export interface RandomSource {
  /** Returns a number from 0 up to, but excluding, `most`. */
  below(most: number): number;
  pick<Value>(values: readonly [Value, ...Value[]]): Value;
  /** Returns an independent generator, whose numbers do not depend on the state of this one. */
  for(name: string): RandomSource;
}

/** Creates a generator from a text, such as a seed and the name of a case (mulberry32). */
export function createRandomSource(seed: string): RandomSource {
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
    for: (name) => createRandomSource(`${seed} ${name}`),
  };
}

type Pieces = readonly [string, ...string[]];

/** Kind of hostile text. */
export type Theme = 'spaces' | 'markers' | 'brackets' | 'html' | 'links' | 'scripts' | 'words';

/** Fragments that hostile texts consist of, by kind. */
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

/** All kinds of hostile text. */
export const themes = Object.keys(pieces) as readonly Theme[]; // the names of the table above

/** Number of different texts in the rows of a list. They repeat, so that twice the rows need twice the work. */
const rowTexts = 16;

/** Writes the short text of a row. */
export function writeRowText(random: RandomSource, row: number, length: number): string {
  return writeAnyText(random.for(String(row % rowTexts)), length);
}

/** Writes a random text of a random kind. */
export function writeAnyText(random: RandomSource, length: number): string {
  return writeText(random, themes[random.below(themes.length)] ?? 'words', length);
}

/**
 * Writes a random text of about `length` characters. It uses few fragments of the theme, so that it has
 * long runs of one fragment. The choice does not depend on the length.
 */
export function writeText(random: RandomSource, theme: Theme, length: number): string {
  const vocabulary = [random.pick(pieces[theme]), random.pick(pieces[theme])] as const;
  const others: readonly [Theme, ...Theme[]] = ['words', 'links', 'markers', 'html'];
  const other = random.pick(pieces[random.pick(others)]);
  const parts: string[] = [];
  for (let written = 0; written < length; ) {
    const piece = random.below(20) === 0 ? other : random.pick(vocabulary);
    const run = piece.repeat(Math.min(length, 1 + random.below(random.below(8) === 0 ? 400 : 4)));
    parts.push(run);
    written += run.length;
  }
  return parts.join('').slice(0, length);
}
