/** The numbers of one second. 2^33 seconds of them are safe integers: until the year 2242. */
const step = 2 ** 20;
const lastSecond = 2 ** 33 - 1;

/** Past every number that there is. */
export const endOfNumbers: number = (lastSecond + 1) * step;

/** A post or repost. Posts have even numbers and reposts odd ones: no two in a list of both are equal. */
interface Numbered {
  readonly kind: 'post' | 'repost';
  /** Unix seconds; a fraction, in milliseconds, orders those of one second. */
  readonly at: number;
  /** Its name, unique among its kind. */
  readonly key: string;
}

/** Returns the least number of a second; times out of range count as the nearest in it. */
export function firstNumberAt(seconds: number): number {
  return toSecond(Math.ceil(seconds)) * step;
}

/** Returns the number that something should have, in every archive the same. If it is taken, try `nextNumber`. */
export function toNumber({ kind, at, key }: Numbered): number {
  const second = toSecond(Math.floor(at));
  const ms = Math.min(Math.max(Math.round((at - second) * 1000), 0), 999) || 0;
  const tie = ms === 0 ? hash(key) % 2 ** 19 : ms * 2 ** 9 + (hash(key) % 2 ** 9);
  return second * step + tie * 2 + (kind === 'repost' ? 1 : 0);
}

/** Returns the number to try if one is taken: of the same second and kind. */
export function nextNumber(number: number): number {
  const start = number - (number % step);
  return start + ((number - start + 2) % step);
}

export function isSameSecond(one: number, other: number): boolean {
  return secondOf(one) === secondOf(other);
}

/** Returns a time, in Unix seconds, that has this number: a whole one unless the number has milliseconds. */
export function timeOf(number: number, { kind, key }: Pick<Numbered, 'kind' | 'key'>): number {
  const second = secondOf(number);
  if (toNumber({ kind, key, at: second }) === number) return second;
  const ms = Math.floor((number - second * step) / 2 / 2 ** 9);
  return second + ms / 1000;
}

export function secondOf(number: number): number {
  return Math.floor(number / step);
}

function toSecond(seconds: number): number {
  return Math.min(Math.max(seconds, 0), lastSecond) || 0; // NaN is no time: 0
}

/** FNV-1a, 32 bits, of the text's UTF-16 units. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
