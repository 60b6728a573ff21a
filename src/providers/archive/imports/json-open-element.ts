import { jsonBytes } from './json-tokens.ts';

/** The bytes of an element of an array, or why it has none. */
export type ElementCut =
  | { readonly bytes: Buffer; readonly offset: number }
  | { readonly fault: string; readonly offset: number };

/** A part of a chunk. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The element that is being read. */
export interface OpenElement {
  /**
   * Adds the bytes of a chunk from one index to another; those before its first one are space and
   * dropped.
   *
   * @param offset Where the chunk begins in the file.
   */
  add(chunk: Uint8Array, span: Span, offset: number): void;
  /** Ends it, so that the next one can begin; gives nothing where it is nothing but space. */
  close(): readonly ElementCut[];
}

/** Creates an element. Of one that is larger than `maxBytes` nothing is kept. */
export function createOpenElement(maxBytes: number): OpenElement {
  let pieces: Buffer[] = [];
  let size = 0;
  let start = 0;
  const add = (chunk: Uint8Array, { from, to }: Span, offset: number): void => {
    const begin = size === 0 ? skipSpace(chunk, from, to) : from;
    if (begin === to) return;
    if (size === 0) start = offset + begin;
    size += to - begin;
    if (size > maxBytes) pieces = [];
    else pieces.push(Buffer.from(chunk.buffer, chunk.byteOffset + begin, to - begin));
  };
  return {
    add,
    close: () => {
      if (size === 0) return [];
      const cut = toCut();
      pieces = [];
      size = 0;
      return [cut];
    },
  };

  function toCut(): ElementCut {
    if (size <= maxBytes) return { offset: start, bytes: joinBytes(pieces) };
    const fault = `It is larger than ${Math.round(maxBytes / 2 ** 20)} MiB.`;
    return { offset: start, fault };
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
