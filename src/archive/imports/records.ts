import type * as z from 'zod';
import {
  type ExportFile,
  type ExportItem,
  type SkippedRecord,
  skipRecord,
} from './export-source.ts';

/** Record of an export, with the file that contains it and its number there. */
export type ExportRecord<Row> =
  | { readonly kind: 'row'; readonly row: Row; readonly location: string }
  | SkippedRecord;

export interface RecordOptions<Row> extends JsonOptions {
  readonly schema: z.ZodType<Row>;
}

/** Yields arrays of records in the order of the files. Each array comes from one chunk. */
export async function* readRecords<Row>(
  files: readonly ExportFile[],
  { schema, ...options }: RecordOptions<Row>,
): AsyncGenerator<readonly ExportRecord<Row>[], void, undefined> {
  for (const file of files) {
    for await (const elements of jsonElements(file.read(), options)) {
      yield elements.map((element) => {
        const location = `${file.name}, record ${element.index + 1}`;
        if (element.kind === 'value') return parseRecord(element.value, location, schema);
        return { ...skipRecord(location, element.reason), isCutOff: element.isCutOff };
      });
    }
  }
}

/** Yields only the valid records. */
export async function* readRows<Row>(
  files: readonly ExportFile[],
  reading: RecordOptions<Row>,
): AsyncGenerator<Row, void, undefined> {
  for await (const records of readRecords(files, reading)) {
    for (const record of records) if (record.kind === 'row') yield record.row;
  }
}

/** Returns the first valid record; `null` if there is none. */
export async function readFirst<Row>(
  files: readonly ExportFile[],
  reading: RecordOptions<Row>,
): Promise<Row | null> {
  for await (const row of readRows(files, reading)) return row;
  return null;
}

export function parseRecord<Row>(
  value: unknown,
  location: string,
  schema: z.ZodType<Row>,
): ExportRecord<Row> {
  const { data: row, error } = schema.safeParse(value);
  if (error !== undefined) return skipRecord(location, describeFault(error));
  return { kind: 'row', row, location };
}

/** Items of a record, or the reason to skip it. */
export type Converted = ExportItem | readonly ExportItem[] | string;

/** Converts records to items. */
export const convertRecords = <Row>(
  records: readonly ExportRecord<Row>[],
  convert: (row: Row, location: string) => Converted,
): readonly ExportItem[] =>
  records.flatMap((record) => {
    if (record.kind === 'skipped') return record;
    const items = convert(record.row, record.location);
    return typeof items === 'string' ? skipRecord(record.location, items) : items;
  });

function describeFault({ issues: [issue] }: z.ZodError): string {
  if (issue === undefined) return 'It cannot be read.';
  if (issue.code === 'custom') return issue.message;
  if (issue.path.length === 0) return 'It does not have the expected structure.';
  return `Its field ${issue.path.join('.')} is missing or cannot be read.`;
}

/** Element of a JSON array at a zero-based `index`, or the reason why it is unreadable. */
export type JsonElement =
  | { readonly kind: 'value'; readonly value: unknown; readonly index: number }
  | {
      readonly kind: 'fault';
      readonly reason: string;
      /** Whether the file ends within the array, so that elements are missing. */
      readonly isCutOff: boolean;
      readonly index: number;
    };

interface JsonOptions {
  /** Pattern of the text before the array and its opening bracket, such as `window.YTD… = [`. */
  readonly start?: RegExp;
  /** Changes the JSON text of an element before it is parsed. */
  readonly prepare?: (json: string) => string;
}

export const endsWithinRecord = 'The file ends in the middle of this record.';

export const maxElementBytes: number = 8 * 2 ** 20;

/** Creates a buffer for the bytes of a record, which drops them if there are too many. */
export function createRecordBuffer() {
  let parts: Uint8Array[] = [];
  let size = 0;
  return {
    isEmpty: () => size === 0,
    add: (bytes: Uint8Array): void => {
      size += bytes.length;
      if (size > maxElementBytes) parts = [];
      else parts.push(bytes);
    },
    /** Removes and returns the text; `null` if it was too long. */
    take: (): string | null => {
      const text = size > maxElementBytes ? null : Buffer.concat(parts).toString('utf8');
      [parts, size] = [[], 0];
      return text;
    },
  };
}

/**
 * Yields a list of elements of a JSON array for each chunk of a file. Elements that are invalid, or
 * larger than `maxElementBytes`, become faults. NUL, lone surrogates and invalid bytes become
 * U+FFFD.
 */
export async function* jsonElements(
  chunks: AsyncIterable<Uint8Array>,
  { start = /\[/, prepare = (json) => json }: JsonOptions = {},
): AsyncGenerator<readonly JsonElement[], void, undefined> {
  const findStart = createStartFinder(start);
  const finder = new BoundaryFinder();
  const open = createElementBuffer(prepare);
  let from: number | null = null;
  for await (const chunk of chunks) {
    from = from === null ? findStart(chunk) : 0;
    if (from === null) continue;
    const { elements, isDone } = readChunk(chunk, from, { finder, open });
    // One list per chunk, because a promise for each element would be slow.
    if (elements.length > 0) yield elements;
    if (isDone) return;
  }
  const missing = { kind: 'fault', reason: 'The file contains no list of records.' } as const;
  yield [from === null ? { ...missing, isCutOff: true, index: 0 } : open.end()];
}

const maxStartBytes = 256;

function createStartFinder(start: RegExp): (chunk: Uint8Array) => number | null {
  let rest = '';
  return (chunk) => {
    const text = `${rest}${Buffer.from(chunk).toString('latin1')}`;
    const match = start.exec(text);
    if (match !== null) return match.index + match[0].length - rest.length;
    rest = text.slice(-maxStartBytes);
    return null;
  };
}

function readChunk(
  chunk: Uint8Array,
  from: number,
  { finder, open }: { finder: BoundaryFinder; open: ReturnType<typeof createElementBuffer> },
) {
  const elements: JsonElement[] = [];
  let begin = from;
  for (let at = from; at < chunk.length; at++) {
    const boundary = finder.take(chunk[at] ?? 0);
    if (boundary === null) continue;
    open.add(chunk.subarray(begin, at));
    elements.push(...open.close());
    if (boundary === 'end') return { elements, isDone: true };
    begin = boundary === 'unclosed' ? at : at + 1;
  }
  open.add(chunk.subarray(begin));
  return { elements, isDone: false };
}

function createElementBuffer(prepare: (json: string) => string) {
  const buffer = createRecordBuffer();
  let index = 0;
  return {
    /** Adds bytes to the current element. Drops white space before it. */
    add: (bytes: Uint8Array): void => {
      const begin = buffer.isEmpty() ? bytes.findIndex((byte) => byte > bytesOf.space) : 0;
      if (begin >= 0) buffer.add(bytes.subarray(begin));
    },
    /** Parses and removes the current element. Returns an empty list if there is none. */
    close: (): readonly JsonElement[] =>
      buffer.isEmpty() ? [] : [toElement(buffer.take(), index++, prepare)],
    /** Returns the fault of a file that ends before its list. */
    end: (): JsonElement => {
      const isBetween = buffer.isEmpty();
      const reason = isBetween ? 'The file ends before the end of its list.' : endsWithinRecord;
      return { kind: 'fault', reason, isCutOff: true, index };
    },
  };
}

/** Bytes of JSON syntax characters. In UTF-8, no other character contains these bytes. */
const bytesOf = {
  lineFeed: 0x0a,
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

const structural = new Uint8Array(256); // 1 for each byte that has a meaning outside strings
for (const byte of Buffer.from('{}[],:')) structural[byte] = 1;

type Boundary = 'element' | 'end' | 'unclosed';

const maxDepth = 65_536; // maximum number of open brackets that are tracked

/** Takes the bytes of a JSON array. Knows the open brackets, and whether a byte is in a string. */
class BoundaryFinder {
  readonly #openers: number[] = [];
  #objects = 0; // number of `{` in `#openers`, so that an unmatched bracket needs no search
  #last: number = bytesOf.comma;
  #isString = false;
  #isEscaped = false;

  /** Returns the boundary at a byte. `unclosed`: the element before lacks its closing brace. */
  take(byte: number): Boundary | null {
    if (this.#isString) {
      // JSON strings contain no line feed, so the closing quote is missing.
      const isEnd = byte === bytesOf.quote || byte === bytesOf.lineFeed;
      this.#isString = this.#isEscaped || !isEnd;
      this.#isEscaped = byte === bytesOf.backslash && !this.#isEscaped;
      return null;
    }
    if (byte === bytesOf.quote) this.#isString = true;
    if (structural[byte] !== 1) return null;
    const boundary = this.#takeToken(byte);
    this.#last = byte;
    return boundary;
  }

  #takeToken(token: number): Boundary | null {
    if (token === bytesOf.openObject || token === bytesOf.openArray) return this.#open(token);
    if (token === bytesOf.comma) return this.#openers.length === 0 ? 'element' : null;
    if (token === bytesOf.closeObject) this.#close(bytesOf.openObject);
    // Without an open `[`, it closes the array itself.
    return token === bytesOf.closeArray && !this.#close(bytesOf.openArray) ? 'end' : null;
  }

  #open(token: number): Boundary | null {
    // An object cannot start between two members of an object, so this is the next record.
    const isMember = this.#openers.at(-1) === bytesOf.openObject && this.#last === bytesOf.comma;
    const isUnclosed = isMember && token === bytesOf.openObject;
    if (isUnclosed) this.#openers.length = this.#objects = 0;
    if (this.#openers.length < maxDepth) {
      this.#openers.push(token);
      if (token === bytesOf.openObject) this.#objects += 1;
    }
    return isUnclosed ? 'unclosed' : null;
  }

  /** Removes the last `opener` and all brackets after it. Returns `false` if there is none. */
  #close(opener: number): boolean {
    const { length } = this.#openers;
    const isFound = (opener === bytesOf.openObject ? this.#objects : length - this.#objects) > 0;
    for (let closed: number | undefined; isFound && closed !== opener; ) {
      closed = this.#openers.pop();
      if (closed === bytesOf.openObject) this.#objects -= 1;
    }
    return isFound;
  }
}

function toElement(
  json: string | null,
  index: number,
  prepare: (json: string) => string,
): JsonElement {
  const fault = { kind: 'fault', isCutOff: false, index } as const;
  if (json === null) {
    return { ...fault, reason: `It is larger than ${maxElementBytes / 2 ** 20} MiB.` };
  }
  const text = cleanEscapes(prepare(json));
  // Control characters can be within strings or between tokens.
  const value =
    tryParse(text) ??
    tryParse(text.replace(controls, '\\ufffd')) ??
    tryParse(text.replace(controls, ' '));
  if (value === undefined) return { ...fault, reason: 'It is not valid JSON.' };
  return { kind: 'value', value, index };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not valid JSON
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
const controls = /[\0-\x08\x0b\x0c\x0e-\x1f]/g;

/** Escapes of NUL and lone surrogates. The group matches others that could be mistaken for them. */
const oddEscapes =
  /(\\\\|\\ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2})|\\u(?:d[89a-f][\da-f]{2}|0000)/gi;

// The plain search comes first because the pattern is ten times slower.
const cleanEscapes = (text: string): string =>
  text.includes('\\u')
    ? text.replace(oddEscapes, (_escape, valid?: string) => valid ?? '\\ufffd')
    : text;
