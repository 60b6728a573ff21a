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

/**
 * Creates a function that looks for an array, chunk after chunk: the one that the names of members lead to, or
 * the first one of the file if there are no names. It returns the index after the array's opening bracket, or
 * `null` if that is not in the chunk.
 */
export function createArraySeeker(path: readonly string[]): (chunk: Uint8Array) => number | null {
  const isFound = path.length === 0 ? (byte: number) => byte === jsonBytes.openArray : follow(path);
  return (chunk) => {
    const index = chunk.findIndex(isFound);
    return index < 0 ? null : index + 1;
  };
}

/** Creates a function that takes every byte and returns whether it opens the array. */
function follow(path: readonly string[]): (byte: number) => boolean {
  const strings = createStrings();
  let depth = 0;
  /** How many names lead to the object whose members are looked at. It is at the depth after it. */
  let matched = 0;
  let isNamed = false;
  const open = (byte: number): boolean => {
    const isSought = isNamed && depth === matched + 1;
    const isLast = matched + 1 === path.length;
    if (isSought && isLast && byte === jsonBytes.openArray) return true;
    if (isSought && !isLast && byte === jsonBytes.openObject) matched += 1;
    depth += 1;
    return false;
  };
  const close = () => {
    depth = Math.max(0, depth - 1);
    matched = Math.min(matched, Math.max(0, depth - 1));
  };
  const takeOutside = (byte: number): boolean => {
    if (byte === jsonBytes.openArray || byte === jsonBytes.openObject) return open(byte);
    if (byte === jsonBytes.closeArray || byte === jsonBytes.closeObject) close();
    return false;
  };
  return (byte) => {
    if (strings.take(byte) || byte <= jsonBytes.space) return false;
    const isFound = takeOutside(byte);
    isNamed = byte === jsonBytes.colon && depth === matched + 1 && strings.last() === path[matched];
    return isFound;
  };
}

/** Maximum length of a name that is compared. */
const maxNameBytes = 256;

/** Creates a state that tells strings from the bytes around them, and remembers the last one. */
function createStrings() {
  let bytes: number[] = [];
  let isInside = false;
  let isEscaped = false;
  const takeInside = (byte: number) => {
    const isEnd = byte === jsonBytes.quote && !isEscaped;
    isEscaped = byte === jsonBytes.backslash && !isEscaped;
    isInside = !isEnd;
    if (!isEnd && bytes.length < maxNameBytes) bytes.push(byte);
  };
  return {
    /** Returns whether a byte belongs to a string. */
    take: (byte: number): boolean => {
      if (isInside) takeInside(byte);
      else if (byte === jsonBytes.quote) {
        isInside = true;
        bytes = [];
      } else return false;
      return true;
    },
    last: (): string => Buffer.from(bytes).toString('utf8'),
  };
}

/** Bytes of an element of an array; the kind of fault if they are not there. */
export type ElementCut = Buffer | 'empty' | 'too_large';

/** Where an element ended in a chunk. */
export interface ElementEnd {
  readonly cut: ElementCut;
  /** The index after it: that of the comma, where there is one. */
  readonly end: number;
  /** Where what follows begins. */
  readonly next: number;
}

/** Cuts an array into its elements, byte by byte, however broken they are. */
export interface ElementCutter {
  /** Reads a chunk from an index on, to the end of the next element; `null` if the chunk ends before it. */
  cut(chunk: Uint8Array, from: number): ElementEnd | null;
  /** Returns whether only space has been read since the last element, or since the array's bracket. */
  isBetween(): boolean;
  /** Returns whether nothing but space of the next element has been read. */
  isEmpty(): boolean;
  /** Returns whether the array has ended. What follows it is not read. */
  isDone(): boolean;
}

/** Creates a cutter; it does not keep the bytes of elements larger than `maxBytes`. */
export function createElementCutter(maxBytes: number): ElementCutter {
  const nextBorder = createBorders();
  const open = createOpenElement(maxBytes);
  let isDone = false;
  /** Whether the first byte of the element was the border, too. */
  let isFirstTold = false;
  return {
    cut: (chunk, from) => {
      const border = nextBorder(chunk, isFirstTold ? from + 1 : from);
      open.add(chunk, from, border?.end ?? chunk.length);
      isFirstTold = border !== null && border.next === border.end;
      if (border === null) return null;
      isDone = border.isLast;
      return { cut: open.close(), end: border.end, next: border.next };
    },
    isBetween: () => !isDone && !isFirstTold && open.isEmpty(),
    isEmpty: open.isEmpty,
    isDone: () => isDone,
  };
}

/** Creates the element that is being read, which consists of parts of chunks. */
function createOpenElement(maxBytes: number) {
  let pieces: Buffer[] = [];
  let size = 0;
  const toCut = (): ElementCut => {
    if (size > maxBytes) return 'too_large';
    const [first = 'empty'] = pieces;
    // Most elements are within a chunk and need not be copied.
    return pieces.length > 1 ? Buffer.concat(pieces) : first;
  };
  return {
    /** Adds the bytes of a chunk from one index to another; space before its first one is dropped. */
    add: (chunk: Uint8Array, from: number, to: number): void => {
      const begin = size === 0 ? skipSpace(chunk, from, to) : from;
      if (begin === to) return;
      size += to - begin;
      if (size > maxBytes) pieces = [];
      else pieces.push(Buffer.from(chunk.buffer, chunk.byteOffset + begin, to - begin));
    },
    /** Returns whether nothing but space has been added. */
    isEmpty: () => size === 0,
    /** Ends it, so that the next one can begin. */
    close: (): ElementCut => {
      const cut = toCut();
      pieces = [];
      size = 0;
      return cut;
    },
  };
}

/** Returns the index of the first byte that is no space; the end if there is none. */
function skipSpace(chunk: Uint8Array, from: number, to: number): number {
  let index = from;
  while (index < to && (chunk[index] ?? 0) <= jsonBytes.space) index += 1;
  return index;
}

/** Where an element ends in a chunk, and where the next one begins. */
interface Border {
  readonly end: number;
  readonly next: number;
  readonly isLast: boolean;
}

/** Creates a function that finds the first border of a chunk from an index on. It takes every byte once. */
function createBorders(): (chunk: Uint8Array, from: number) => Border | null {
  const nextToken = createTokens();
  const take = createTurns();
  return (chunk, from) => {
    for (let index = nextToken(chunk, from); index >= 0; index = nextToken(chunk, index + 1)) {
      const turn = take(chunk[index] ?? 0);
      if (turn === null) continue;
      return { end: index, next: turn === 'astray' ? index : index + 1, isLast: turn === 'end' };
    }
    return null;
  };
}

/**
 * What a byte is for the array: after an element, after the array, or the first one of an element
 * while the closing of the one before it is missing.
 */
type Turn = 'element' | 'end' | 'astray';

/** Maximum number of brackets that are open at once. Deeper ones do not count: no program nests thousands. */
const maxDepth = 65_536;

/** Creates a function that takes the structure of an array and returns where its elements end. */
function createTurns(): (token: number) => Turn | null {
  const openers: number[] = [];
  let last: number = jsonBytes.comma;
  /** Also closes what was opened since and is not closed: that is broken, and ends here. */
  const close = (opener: number): Turn | null => {
    const found = openers.lastIndexOf(opener);
    if (found < 0) return opener === jsonBytes.openArray ? 'end' : null;
    openers.length = found;
    return null;
  };
  const open = (byte: number): Turn | null => {
    // Between the members of an object no object begins: this is the next record.
    const isMember = openers.at(-1) === jsonBytes.openObject && last === jsonBytes.comma;
    const isAstray = isMember && byte === jsonBytes.openObject;
    if (isAstray) openers.length = 0;
    if (openers.length < maxDepth) openers.push(byte);
    return isAstray ? 'astray' : null;
  };
  const judge = (token: number): Turn | null => {
    switch (token) {
      case jsonBytes.openObject:
      case jsonBytes.openArray:
        return open(token);
      case jsonBytes.closeObject:
        return close(jsonBytes.openObject);
      case jsonBytes.closeArray:
        return close(jsonBytes.openArray);
      case jsonBytes.comma:
        return openers.length === 0 ? 'element' : null;
      default:
        return null;
    }
  };
  return (token) => {
    const turn = judge(token);
    last = token;
    return turn;
  };
}

/** Bytes that have a meaning outside strings. */
const structural = new Uint8Array(256);
for (const byte of Buffer.from('{}[],:"')) structural[byte] = byte;

/** Bytes that can end a string or take the meaning from the next byte. */
const special = new Uint8Array(256);
// No string has a bare line feed: the closing quote is missing.
for (const byte of [jsonBytes.quote, jsonBytes.backslash, jsonBytes.lineFeed]) special[byte] = byte;

/**
 * Creates a function that returns the index of the first byte outside strings that has a meaning, from an index
 * on; -1 if there is none. It begins outside strings and takes every byte once.
 */
function createTokens(): (chunk: Uint8Array, from: number) => number {
  let isString = false;
  let isEscaped = false;
  /** Returns the index after a string's end; the length if it goes on in the next chunk. */
  const skipString = (chunk: Uint8Array, from: number): number => {
    const end = seekEnd(chunk, isEscaped ? from + 1 : from);
    isEscaped = end > chunk.length;
    isString = end >= chunk.length;
    return isString ? chunk.length : end + 1;
  };
  return (chunk, from) => {
    if (from >= chunk.length) return -1;
    let index = isString ? skipString(chunk, from) : from;
    index = seek(structural, chunk, index);
    while (chunk[index] === jsonBytes.quote) {
      isString = true;
      index = seek(structural, chunk, skipString(chunk, index + 1));
    }
    return index < chunk.length ? index : -1;
  };
}

/** Returns the index of the end of a string; the length if it has none there, more after a backslash. */
function seekEnd(chunk: Uint8Array, from: number): number {
  let index = seek(special, chunk, from);
  while (chunk[index] === jsonBytes.backslash) index = seek(special, chunk, index + 2);
  return index;
}

/** Returns the index of the first byte that a table has, from an index on; the length if there is none. */
function seek(table: Uint8Array, chunk: Uint8Array, from: number): number {
  const { length } = chunk;
  let index = from;
  // All bytes of an export go through here: nothing but locals.
  while (index < length && table[chunk[index] ?? 0] === 0) index += 1;
  return index;
}
