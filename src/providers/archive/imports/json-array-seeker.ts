import { jsonBytes } from './json-tokens.ts';

/** Finds where an array begins, chunk after chunk. */
export interface ArraySeeker {
  /** Gives the index after the array's bracket; null where it is not in this chunk. */
  seek(chunk: Uint8Array): number | null;
}

/** The longest name of a member that is compared; none that is sought is longer. */
const maxNameBytes = 256;

/**
 * Creates what finds the array that the names of members lead to. Without a name it is the first one
 * of the file.
 */
export function createArraySeeker(path: readonly string[]): ArraySeeker {
  const isFound = path.length === 0 ? (byte: number) => byte === jsonBytes.openArray : follow(path);
  return {
    seek: (chunk) => {
      const index = chunk.findIndex(isFound);
      return index < 0 ? null : index + 1;
    },
  };
}

/** Gives what is told every byte and says which one opens the array. */
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
    if (openers.has(byte)) return open(byte);
    if (closers.has(byte)) close();
    return false;
  };
  return (byte) => {
    if (strings.take(byte) || byte <= jsonBytes.space) return false;
    const isFound = takeOutside(byte);
    isNamed = byte === jsonBytes.colon && depth === matched + 1 && strings.last() === path[matched];
    return isFound;
  };
}

const openers: ReadonlySet<number> = new Set([jsonBytes.openArray, jsonBytes.openObject]);
const closers: ReadonlySet<number> = new Set([jsonBytes.closeArray, jsonBytes.closeObject]);

/** Creates what tells strings from what is around them, and remembers the last one. */
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
    /** Tells whether a byte belongs to a string. */
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
