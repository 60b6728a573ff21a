import { createOpenElement, type ElementCut } from './json-open-element.ts';
import { createJsonTokens, jsonBytes } from './json-tokens.ts';

/** Cuts an array into its elements, byte by byte, however broken they are. */
export interface ElementCutter {
  /** Reads a chunk from an index on, to the end of the next element; null where it ends before. */
  cut(chunk: Uint8Array, from: number): ElementEnd | null;
  /** Tells whether the next byte is the first one after an element, or after the array's bracket. */
  isBetween(): boolean;
  /** Tells whether the array has ended. What follows it is not read. */
  isDone(): boolean;
  /** Ends the file; gives what is wrong with its end, or null. */
  end(): Extract<ElementCut, { fault: string }> | null;
}

/** Where an element ended in a chunk. */
export interface ElementEnd {
  /** Nothing, where there was nothing but space. */
  readonly cuts: readonly ElementCut[];
  /** The index after it: that of the comma, where there is one. */
  readonly end: number;
  /** Where what follows begins. */
  readonly next: number;
}

/** Creates what cuts an array into elements; one of more than `maxBytes` is a fault. */
export function createElementCutter(maxBytes: number): ElementCutter {
  const nextBorder = createBorders();
  const open = createOpenElement(maxBytes);
  let isDone = false;
  /** Whether the first byte of the element was the border, too. */
  let isFirstTold = false;
  return {
    cut: (chunk, from) => {
      const border = nextBorder(chunk, isFirstTold ? from + 1 : from);
      open.add(chunk, { from, to: border?.end ?? chunk.length });
      isFirstTold = border !== null && border.next === border.end;
      if (border === null) return null;
      isDone = border.isLast;
      return { cuts: open.close(), end: border.end, next: border.next };
    },
    isBetween: () => !isDone && !isFirstTold && open.isEmpty(),
    isDone: () => isDone,
    end: () => {
      if (isDone) return null;
      const [within] = open.close();
      if (within === undefined) return { fault: 'The file ends before its list does.' };
      return { fault: 'The file ends in the middle of this record.' };
    },
  };
}

/** Where an element ends in a chunk, and where the next one begins. */
interface Border {
  readonly end: number;
  readonly next: number;
  readonly isLast: boolean;
}

/** Creates what finds the first border of a chunk from an index on. It is told every byte once. */
function createBorders(): (chunk: Uint8Array, from: number) => Border | null {
  const tokens = createJsonTokens();
  const take = createTurns();
  return (chunk, from) => {
    for (let index = tokens.next(chunk, from); index >= 0; index = tokens.next(chunk, index + 1)) {
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

/** Brackets that are open at once. In the thousands nobody nests; what is deeper does not count. */
const maxDepth = 65_536;

/** Creates what is told the structure of an array and says where its elements end. */
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
