import { createArraySeeker } from './json-array-seeker.ts';
import { createElementCutter } from './json-element-cutter.ts';
import type { ElementCut } from './json-open-element.ts';
import { createJsonRuns, oddEscape } from './json-runs.ts';

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
  yield reader.end();
}

/** Creates what seeks the array in a file, chunk after chunk, and then reads its elements. */
function createArrayReader(path: readonly string[]) {
  const seeker = createArraySeeker(path);
  const cutter = createElementCutter(maxElementBytes);
  const runs = createJsonRuns();
  let isFound = false;
  let count = 0;
  const placeValue = (value: unknown): JsonElement => ({ kind: 'value', value, index: count++ });
  const placeCut = (cut: ElementCut): JsonElement => toElement(cut, count++);
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
      elements.push(...ended.cuts.map(placeCut));
      runs.learn(chunk, ended.end);
      at = ended.next;
    }
    return elements;
  };
  return {
    /** Takes a chunk; gives the elements that end in it. */
    push: (chunk: Uint8Array): readonly JsonElement[] => {
      const from = isFound ? 0 : seeker.seek(chunk);
      isFound = from !== null;
      return from === null ? [] : read(chunk, from);
    },
    isDone: cutter.isDone,
    /** Ends the file; gives what is wrong with its end. */
    end: (): readonly JsonElement[] => {
      const rest = isFound ? cutter.end() : { fault: noArray };
      return rest === null ? [] : [{ ...toFault(rest), index: count, isCutOff: true }];
    },
  };
}

const noArray = 'There is no list of records in the file.';

function toElement(cut: ElementCut, index: number): JsonElement {
  if ('fault' in cut) return { ...toFault(cut), index };
  try {
    return { kind: 'value', value: parse(cut.bytes.toString('utf8')), index };
  } catch {
    return { ...toFault({ fault: 'It is not valid JSON.' }), index };
  }
}

function toFault({ fault }: Extract<ElementCut, { fault: string }>) {
  return { kind: 'fault', why: fault, isCutOff: false } as const;
}

/** Parses JSON, also where bare control characters stand in its strings, or between its tokens. */
function parse(text: string): unknown {
  const tries = [
    () => text,
    () => text.replace(controls, '\\ufffd'),
    () => text.replace(controls, ' '),
  ];
  const value = firstParsed(tries);
  // The plain search spares most records the pattern, which is ten times slower.
  return text.includes('\\u') && oddEscape.test(text) ? cleanStrings(value) : value;
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
