import {
  createArraySeeker,
  createElementCutter,
  type ElementCut,
  jsonBytes,
} from './json-array.ts';

/** An element of a JSON array that could be read. */
export interface JsonValueElement {
  readonly kind: 'value';
  readonly value: unknown;
  /** Its place in the array, from 0; unreadable elements count. */
  readonly index: number;
}

/** An element that could not be read, or the early end of the file. */
export interface JsonFaultElement {
  readonly kind: 'fault';
  /** A sentence. */
  readonly why: string;
  /** True where the file ends before its list does: there is no telling what is missing. */
  readonly isCutOff: boolean;
  readonly index: number;
}

/** One element of a JSON array, read or not. */
export type JsonElement = JsonValueElement | JsonFaultElement;

/** The most bytes of one element. */
export const maxElementBytes: number = 8 * 2 ** 20;

/**
 * Reads the elements of a JSON array in a file, in memory that does not grow with the file: together
 * come those that end in one chunk, for a promise for each takes as long as to parse it. What stands
 * before the array is skipped: a byte order mark, or the `window.YTD… =` of X. An element that is
 * broken, or larger than `maxElementBytes`, is a fault, and the next one is read.
 * In the values are no lone surrogates and no NUL: U+FFFD stands in the place of each, as it does for
 * bytes that are no UTF-8. So the offsets in code points that a record tells still hold.
 *
 * @param chunks The bytes of the file.
 * @param path The names of the members that lead to the array; none for the first array of the file.
 */
export async function* jsonElements(
  chunks: AsyncIterable<Uint8Array>,
  path: readonly string[],
): AsyncGenerator<readonly JsonElement[], void, undefined> {
  const reader = createArrayReader(path);
  for await (const chunk of chunks) {
    const elements = reader.push(chunk);
    if (elements.length > 0) yield elements;
    if (reader.isDone()) return;
  }
  yield [reader.end()];
}

/** Creates a reader that seeks the array in a file, chunk after chunk, and then reads its elements. */
function createArrayReader(path: readonly string[]) {
  const seek = createArraySeeker(path);
  const cutter = createElementCutter(maxElementBytes);
  const runs = createRuns();
  let isFound = false;
  let count = 0;
  const placeValue = (value: unknown): JsonElement => ({ kind: 'value', value, index: count++ });
  const placeCut = (cut: ElementCut): readonly JsonElement[] =>
    cut === 'empty' ? [] : [toElement(cut, count++)];
  const read = (chunk: Uint8Array, from: number): readonly JsonElement[] => {
    const elements: JsonElement[] = [];
    let isTried = false;
    let at = from;
    while (!cutter.isDone()) {
      if (!isTried && cutter.isBetween()) {
        isTried = true;
        const run = runs.parse(chunk, at);
        elements.push(...run.values.map(placeValue));
        at = run.next;
      }
      const ended = cutter.cut(chunk, at);
      if (ended === null) break;
      elements.push(...placeCut(ended.cut));
      runs.learn(chunk, ended.end);
      at = ended.next;
    }
    return elements;
  };
  const tellEnd = (): string => {
    if (!isFound) return 'There is no list of records in the file.';
    return cutter.isEmpty()
      ? 'The file ends before its list does.'
      : 'The file ends in the middle of this record.';
  };
  return {
    /** Takes a chunk; returns the elements that end in it. */
    push: (chunk: Uint8Array): readonly JsonElement[] => {
      const from = isFound ? 0 : seek(chunk);
      isFound = from !== null;
      return from === null ? [] : read(chunk, from);
    },
    isDone: cutter.isDone,
    /** Ends a file in which the array did not end. */
    end: (): JsonElement => ({ kind: 'fault', why: tellEnd(), isCutOff: true, index: count }),
  };
}

function toElement(cut: Exclude<ElementCut, 'empty'>, index: number): JsonElement {
  const fault = { kind: 'fault', isCutOff: false, index } as const;
  if (cut === 'too_large') {
    return { ...fault, why: `It is larger than ${maxElementBytes / 2 ** 20} MiB.` };
  }
  try {
    return { kind: 'value', value: parse(cut.toString('utf8')), index };
  } catch {
    return { ...fault, why: 'It is not valid JSON.' };
  }
}

/** Maximum bytes from the end of an element to the first colon in the next one. */
const maxSeamBytes = 128;

/** Elements of an array that follow each other in a chunk. */
interface Run {
  readonly values: readonly unknown[];
  /** The index after the comma behind the last one; if there is none, that from which they were sought. */
  readonly next: number;
}

/**
 * Creates what parses runs of elements. Programs write arrays of objects that end and begin all alike:
 * `},\n  {"tweet":`. What stands before the last such seam of a chunk is tried as a whole. No seam needs
 * to be right: within a string or a bracket the run before it would not be closed, and what is parsed
 * between two brackets is elements and nothing else. So a run can fail, and never lie.
 */
function createRuns() {
  let seam: Buffer | null = null;
  return {
    /** Takes note of how an element ends and the next one begins. */
    learn: (chunk: Uint8Array, comma: number): void => {
      seam ??= findSeam(chunk, comma);
    },
    /** Parses the elements from an index on; none if they have to be cut one by one. */
    parse: (chunk: Uint8Array, from: number): Run => {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const last = seam === null ? -1 : bytes.lastIndexOf(seam);
      const values = last < from ? null : parseRun(bytes.toString('utf8', from, last + 1));
      // A seam begins with the bracket and the comma.
      return values === null ? { values: [], next: from } : { values, next: last + 2 };
    },
  };
}

/** Returns the bytes around a comma, from a closing bracket to a colon; `null` if they are none of that. */
function findSeam(chunk: Uint8Array, comma: number): Buffer | null {
  const colon = chunk.indexOf(jsonBytes.colon, comma);
  if (chunk[comma - 1] !== jsonBytes.closeObject || colon < 0) return null;
  const seam = Buffer.from(chunk.subarray(comma - 1, colon + 1)); // a copy: the chunk is given back
  return seam.length <= maxSeamBytes && /^\},\s*\{\s*"\w+"\s*:$/.test(seam.toString('latin1'))
    ? seam
    : null;
}

/** Returns whether a text has the escape of a surrogate or of NUL, which few records have. */
function hasOddEscape(text: string): boolean {
  // The plain search spares most records the pattern, which is ten times slower.
  return text.includes('\\u') && /\\u(?:d[89a-f]|0000)/i.test(text);
}

function parseRun(text: string): readonly unknown[] | null {
  if (hasOddEscape(text)) return null;
  try {
    const values: unknown = JSON.parse(`[${text}]`);
    return Array.isArray(values) ? values : null;
  } catch {
    return null;
  }
}

/** Parses JSON, also where bare control characters stand in its strings, or between its tokens. */
function parse(text: string): unknown {
  const tries = [
    () => text,
    () => text.replace(controls, '\\ufffd'),
    () => text.replace(controls, ' '),
  ];
  const value = firstParsed(tries);
  return hasOddEscape(text) ? cleanStrings(value) : value;
}

/** Gives the value of the first text that is JSON; the last one's failure is thrown. */
function firstParsed([first, ...others]: readonly (() => string)[]): unknown {
  if (first === undefined) throw new SyntaxError('There is no JSON.');
  try {
    return JSON.parse(first());
  } catch (error) {
    if (others.length === 0) throw error;
    return firstParsed(others);
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is sought
const controls = /[\0-\x08\x0b\x0c\x0e-\x1f]/g;

const noText = /[\p{Surrogate}\0]/gu;

function cleanStrings(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(noText, '\ufffd');
  if (Array.isArray(value)) return value.map(cleanStrings);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, cleanStrings(member)]),
  );
}
