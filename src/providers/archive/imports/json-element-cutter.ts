import { createOpenElement, type ElementCut } from './json-open-element.ts';
import { createJsonTokens, jsonBytes } from './json-tokens.ts';

/** Cuts an array into its elements, chunk after chunk. */
export interface ElementCutter {
  /**
   * Takes a chunk from an index on; gives the elements that end in it.
   *
   * @param offset Where the chunk begins in the file.
   */
  push(chunk: Uint8Array, from: number, offset: number): readonly ElementCut[];
  /** Tells whether the array has ended. What follows it is not read. */
  isDone(): boolean;
  /** Ends the file; gives what is wrong with its end, or null. */
  end(): Extract<ElementCut, { fault: string }> | null;
}

/** Creates what cuts an array into elements; one of more than `maxBytes` is a fault. */
export function createElementCutter(maxBytes: number): ElementCutter {
  const nextBorder = createBorders();
  const open = createOpenElement(maxBytes);
  let end = 0;
  let isDone = false;
  const push = (chunk: Uint8Array, from: number, offset: number): readonly ElementCut[] => {
    const cuts: ElementCut[] = [];
    let start = from;
    let border = nextBorder(chunk, start);
    while (border !== null) {
      open.add(chunk, { from: start, to: border.end }, offset);
      cuts.push(...open.close());
      start = border.next;
      isDone = border.isLast;
      border = isDone ? null : nextBorder(chunk, border.end + 1);
    }
    if (!isDone) open.add(chunk, { from: start, to: chunk.length }, offset);
    end = offset + chunk.length;
    return cuts;
  };
  return {
    push,
    isDone: () => isDone,
    end: () => {
      if (isDone) return null;
      const [within] = open.close();
      if (within === undefined)
        return { offset: end, fault: 'The file ends before its list does.' };
      return { offset: within.offset, fault: 'The file ends in the middle of this record.' };
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
