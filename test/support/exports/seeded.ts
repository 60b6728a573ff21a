/** Seeded random number generator. */
export interface Seeded {
  /** Returns a whole number from 0 up to, but excluding, `limit`. */
  below(limit: number): number;
  of<Item>(items: readonly [Item, ...Item[]]): Item;
  words(count: number): string;
  letters(count: number): string;
}

/** Creates a seeded random number generator (mulberry32). */
export function createSeeded(seed: number): Seeded {
  let state = seed;
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  const letters = (count: number) =>
    Array.from({ length: count }, () => String.fromCharCode(97 + below(26))).join('');
  return {
    below,
    letters,
    of: (items) => items[below(items.length)] ?? items[0],
    words: (count) => Array.from({ length: count }, () => words[below(words.length)]).join(' '),
  };
}

const words =
  'tide harbour morning signal paper lantern river slow grey amber winter market bell stone ferry cloud quiet salt garden window train north letter copper field'.split(
    ' ',
  );
