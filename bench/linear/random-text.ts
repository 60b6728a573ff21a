/** Random number generator whose numbers depend only on its seed. */
export interface RandomSource {
  /** Returns a random integer from 0 to `most` - 1. */
  below(most: number): number;
  pick<Value>(values: readonly [Value, ...Value[]]): Value;
  /** Returns a new generator. Its numbers depend only on `name` and on the seed of the generator that creates it. */
  for(name: string): RandomSource;
}

/** Creates a random number generator (mulberry32) from a seed, which can be any text. */
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

/** Kind of hostile text, which is expensive to parse. */
export type Theme = 'spaces' | 'markers' | 'brackets' | 'html' | 'links' | 'scripts' | 'words';

/** Text fragments by kind. A text that is expensive to parse mainly repeats two fragments of one kind. */
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

export const themes = Object.keys(pieces) as readonly Theme[]; // the names of the table above

/** Number of different texts among the rows of a generated list. Later rows repeat the texts of the first rows. */
const rowTexts = 16;

/** Returns a random text for a row of a generated list. Row numbers that differ by `rowTexts` get the same text. */
export function writeRowText(random: RandomSource, row: number, length: number): string {
  return writeAnyText(random.for(String(row % rowTexts)), length);
}

/** Returns a text that is expensive to parse, of a random kind, such as brackets or HTML. */
export function writeAnyText(random: RandomSource, length: number): string {
  return writeText(random, themes[random.below(themes.length)] ?? 'words', length);
}

/**
 * Returns a random text of the kind `theme` with `length` UTF-16 code units. The text repeats a few
 * fragments, which do not depend on `length`.
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
