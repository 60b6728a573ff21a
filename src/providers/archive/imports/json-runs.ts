import { jsonBytes } from './json-tokens.ts';

/** Some elements of an array that stand one after the other in a chunk. */
export interface JsonRun {
  readonly values: readonly unknown[];
  /** The index after the comma behind the last one; where there is none, that from which they were sought. */
  readonly next: number;
}

/** Parses whole runs of elements at once. */
export interface JsonRuns {
  /** Takes note of how an element ends and the next one begins. */
  learn(chunk: Uint8Array, comma: number): void;
  /** Parses the elements from an index on; none where they have to be cut one by one. */
  parse(chunk: Uint8Array, from: number): JsonRun;
}

/** The most bytes from the end of an element to the first colon in the next one. */
const maxSeamBytes = 128;

/**
 * Creates what parses runs of elements. Programs write arrays of objects that end and begin all alike:
 * `},\n  {"tweet":`. What stands before the last such seam of a chunk is tried as a whole. No seam needs
 * to be right: within a string or a bracket the run before it would not be closed, and what is parsed
 * between two brackets is elements and nothing else. So a run can fail, and never lie.
 */
export function createJsonRuns(): JsonRuns {
  let seam: Buffer | null = null;
  return {
    learn: (chunk, comma) => {
      seam ??= findSeam(chunk, comma);
    },
    parse: (chunk, from) => {
      const bytes = toBuffer(chunk);
      const last = seam === null ? -1 : bytes.lastIndexOf(seam);
      const values = last < from ? null : parseRun(bytes.toString('utf8', from, last + 1));
      // A seam begins with the bracket and the comma.
      return values === null ? { values: [], next: from } : { values, next: last + 2 };
    },
  };
}

/** Gives what stands around a comma, from a closing bracket to a colon; null where it is none of that. */
function findSeam(chunk: Uint8Array, comma: number): Buffer | null {
  const colon = chunk.indexOf(jsonBytes.colon, comma);
  if (chunk[comma - 1] !== jsonBytes.closeObject || colon < 0) return null;
  const seam = Buffer.from(chunk.subarray(comma - 1, colon + 1)); // a copy: the chunk is given back
  return seam.length <= maxSeamBytes && /^\},\s*\{\s*"\w+"\s*:$/.test(seam.toString('latin1'))
    ? seam
    : null;
}

/** The escape of a surrogate or of NUL. Few records have one; they are looked through one by one. */
export const oddEscape = /\\u(?:d[89a-f]|0000)/i;

function parseRun(text: string): readonly unknown[] | null {
  if (text.includes('\\u') && oddEscape.test(text)) return null;
  try {
    const values: unknown = JSON.parse(`[${text}]`);
    return Array.isArray(values) ? values : null;
  } catch {
    return null;
  }
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
