import { createArraySeeker } from './json-array-seeker.ts';
import { createElementCutter } from './json-element-cutter.ts';
import type { ElementCut } from './json-open-element.ts';

/** An element of a JSON array that could be read. */
export interface JsonValueElement {
  readonly kind: 'value';
  readonly value: unknown;
  /** Its place in the array, from 0; unreadable elements count. */
  readonly index: number;
  /** Where it begins, in bytes from the start of the file. */
  readonly offset: number;
}

/** An element that could not be read, or the early end of the file. */
export interface JsonFaultElement {
  readonly kind: 'fault';
  /** A sentence. */
  readonly why: string;
  /** True where the file ends before its list does: there is no telling what is missing. */
  readonly isCutOff: boolean;
  readonly index: number;
  readonly offset: number;
}

/** One element of a JSON array, read or not. */
export type JsonElement = JsonValueElement | JsonFaultElement;

/** The most bytes of one element. */
export const maxElementBytes: number = 8 * 2 ** 20;

/**
 * Reads the elements of a JSON array in a file, one after the other, in memory that does not grow with
 * the file. What stands before the array is skipped: a byte order mark, or the `window.YTD… =` of X.
 * An element that is broken, or larger than `maxElementBytes`, is a fault, and the next one is read.
 * In the values are no lone surrogates and no NUL: U+FFFD stands in the place of each, as it does for
 * bytes that are no UTF-8. So the offsets in code points that a record tells still hold.
 *
 * @param chunks The bytes of the file.
 * @param path The names of the members that lead to the array; none for the first array of the file.
 */
export async function* jsonElements(
  chunks: AsyncIterable<Uint8Array>,
  path: readonly string[],
): AsyncGenerator<JsonElement, void, undefined> {
  const cut = createFileCutter(path);
  let index = 0;
  for await (const chunk of chunks) {
    for (const element of cut.push(chunk)) yield toElement(element, index++);
    if (cut.isDone()) return;
  }
  const rest = cut.end();
  if (rest !== null) yield { ...toFault(rest), index, isCutOff: true };
}

/** Creates what seeks the array in a file and then cuts it. */
function createFileCutter(path: readonly string[]) {
  const seeker = createArraySeeker(path);
  const cutter = createElementCutter(maxElementBytes);
  let offset = 0;
  let isFound = false;
  const push = (chunk: Uint8Array): readonly ElementCut[] => {
    const from = isFound ? 0 : seeker.seek(chunk);
    isFound = from !== null;
    const cuts = from === null ? [] : cutter.push(chunk, from, offset);
    offset += chunk.length;
    return cuts;
  };
  return {
    push,
    isDone: cutter.isDone,
    end: () => (isFound ? cutter.end() : { offset: 0, fault: noArray }),
  };
}

const noArray = 'There is no list of records in the file.';

function toElement(cut: ElementCut, index: number): JsonElement {
  const { offset } = cut;
  if ('fault' in cut) return { ...toFault(cut), index };
  const text = cut.bytes.toString('utf8');
  try {
    return { kind: 'value', value: parse(text), index, offset };
  } catch {
    return { ...toFault({ fault: 'It is not valid JSON.', offset }), index };
  }
}

function toFault({ fault, offset }: Extract<ElementCut, { fault: string }>) {
  return { kind: 'fault', why: fault, isCutOff: false, offset } as const;
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

/** The escape of a surrogate or of NUL. Few records have one; only those are looked through. */
const oddEscape = /\\u(?:d[89a-f]|0000)/i;

const noText = /[\p{Surrogate}\0]/gu;

function cleanStrings(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(noText, '\ufffd');
  if (Array.isArray(value)) return value.map(cleanStrings);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, cleanStrings(member)]),
  );
}
