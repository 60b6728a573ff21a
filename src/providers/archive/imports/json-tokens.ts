/** The bytes of JSON that mean something. In UTF-8 no part of another character looks like them. */
export const jsonBytes = {
  lineFeed: 0x0a,
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/** What stands outside strings and means something. */
const structural = new Uint8Array(256);
for (const byte of Buffer.from('{}[],:"')) structural[byte] = byte;

/** Tells the bytes that structure JSON from those that stand in its strings. */
export interface JsonTokens {
  /** Gives the index of the first byte that structures, from an index on; -1 where there is none. */
  next(chunk: Uint8Array, from: number): number;
}

/** What can end a string or make the next byte mean nothing. */
const special = new Uint8Array(256);
// No string has a bare line feed: the closing quote is missing.
for (const byte of [jsonBytes.quote, jsonBytes.backslash, jsonBytes.lineFeed]) special[byte] = byte;

/** Creates what tells the bytes apart; it begins outside strings and is told every byte once. */
export function createJsonTokens(): JsonTokens {
  let isString = false;
  let isEscaped = false;
  /** Gives the index after a string's end; the length where it goes on in the next chunk. */
  const skipString = (chunk: Uint8Array, from: number): number => {
    const end = seekEnd(chunk, isEscaped ? from + 1 : from);
    isEscaped = end > chunk.length;
    isString = end >= chunk.length;
    return isString ? chunk.length : end + 1;
  };
  return {
    next: (chunk, from) => {
      if (from >= chunk.length) return -1;
      let index = isString ? skipString(chunk, from) : from;
      index = seek(structural, chunk, index);
      while (chunk[index] === jsonBytes.quote) {
        isString = true;
        index = seek(structural, chunk, skipString(chunk, index + 1));
      }
      return index < chunk.length ? index : -1;
    },
  };
}

/** Gives the index of what ends a string; at least the length where nothing does, and more than it after a backslash. */
function seekEnd(chunk: Uint8Array, from: number): number {
  let index = seek(special, chunk, from);
  while (chunk[index] === jsonBytes.backslash) index = seek(special, chunk, index + 2);
  return index;
}

/** Gives the index of the first byte that a table has, from an index on; the length where there is none. */
function seek(table: Uint8Array, chunk: Uint8Array, from: number): number {
  const { length } = chunk;
  let index = from;
  // All bytes of an export go through here: nothing but locals.
  while (index < length && table[chunk[index] ?? 0] === 0) index += 1;
  return index;
}
