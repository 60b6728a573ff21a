import { jsonBytes } from './json-tokens.ts';

/** The bytes of an element of an array, or why it has none. */
export type ElementCut = { readonly bytes: Buffer } | { readonly fault: string };

/** A part of a chunk. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The element that is being read. */
export interface OpenElement {
  /** Adds the bytes of a chunk from one index to another; space before its first one is dropped. */
  add(chunk: Uint8Array, span: Span): void;
  /** Tells whether nothing but space has been added. */
  isEmpty(): boolean;
  /** Ends it, so that the next one can begin; gives nothing where it is nothing but space. */
  close(): readonly ElementCut[];
}

/** Creates an element. Of one that is larger than `maxBytes` nothing is kept. */
export function createOpenElement(maxBytes: number): OpenElement {
  let pieces: Buffer[] = [];
  let size = 0;
  const add = (chunk: Uint8Array, { from, to }: Span): void => {
    const begin = size === 0 ? skipSpace(chunk, from, to) : from;
    if (begin === to) return;
    size += to - begin;
    if (size > maxBytes) pieces = [];
    else pieces.push(Buffer.from(chunk.buffer, chunk.byteOffset + begin, to - begin));
  };
  return {
    add,
    isEmpty: () => size === 0,
    close: () => {
      if (size === 0) return [];
      const cut = toCut();
      pieces = [];
      size = 0;
      return [cut];
    },
  };

  function toCut(): ElementCut {
    if (size <= maxBytes) return { bytes: joinBytes(pieces) };
    return { fault: `It is larger than ${Math.round(maxBytes / 2 ** 20)} MiB.` };
  }
}

/** Most elements lie within a chunk and need not be copied. */
function joinBytes(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces;
  return only === undefined || pieces.length > 1 ? Buffer.concat(pieces) : only;
}

/** Gives the index of the first byte that is no space; the end where there is none. */
function skipSpace(chunk: Uint8Array, from: number, to: number): number {
  let index = from;
  while (index < to && (chunk[index] ?? 0) <= jsonBytes.space) index += 1;
  return index;
}
