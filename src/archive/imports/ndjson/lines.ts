import type * as z from 'zod';
import { parseStored } from '../../store/stored-json.ts';
import { skipRecord } from '../export-source.ts';
import { createRecordBuffer, type ExportRecord, parseRecord } from '../records.ts';

export interface Line {
  /** Text without white space around it; `null` if the line is too long. */
  readonly text: string | null;
  readonly number: number;
  /** Whether the line ends in a line feed. Only the last line can lack it. */
  readonly isEnded: boolean;
}

const lineFeed = 0x0a;

/** Yields for each chunk of a file the lines that end in it, then the rest. Omits empty lines. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly Line[], void, undefined> {
  const buffer = createRecordBuffer();
  let number = 0;
  const close = (isEnded: boolean): readonly Line[] => {
    number += 1;
    const text =
      buffer
        .take()
        ?.replace(/^\ufeff/, '')
        .trim() ?? null;
    return text === '' ? [] : [{ text, number, isEnded }];
  };
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      buffer.add(chunk.subarray(from, end));
      lines.push(...close(true));
      from = end + 1;
    }
    buffer.add(chunk.subarray(from));
    yield lines;
  }
  yield close(false);
}

/** Parses a line of JSON with the schema from `choose`. */
export function parseLine<Row>(
  { text, number, isEnded }: Line,
  name: string,
  choose: (value: unknown) => z.ZodType<Row>,
): ExportRecord<Row> {
  const location = `${name}, line ${number}`;
  if (text === null) return skipRecord(location, 'It is larger than 8 MiB.');
  let value: unknown;
  try {
    value = parseStored(text);
  } catch {
    if (isEnded) return skipRecord(location, 'It is not valid JSON.');
    // Perch ends every line with a line feed, so this line is incomplete.
    const reason = 'The file ends in the middle of this line.';
    return { ...skipRecord(location, reason), isCutOff: true };
  }
  try {
    return parseRecord(value, location, choose(value));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return skipRecord(location, 'It is nested too deeply.');
  }
}

/**
 * Row of a CSV file; its cells are `null` if it is too long. Its one-based `number` differs from
 * the line if cells contain line feeds.
 */
export interface CsvRow {
  readonly cells: readonly string[] | null;
  readonly number: number;
}

const limits = { cells: 100, characters: 2 ** 20 } as const;

/** Yields a list of rows for each chunk of a CSV file (RFC 4180). Omits empty lines. */
export async function* readCsvRows(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly CsvRow[], void, undefined> {
  const decoder = new TextDecoder();
  const reader = new RowReader();
  for await (const chunk of chunks) yield reader.read(decoder.decode(chunk, { stream: true }));
  yield [...reader.read(decoder.decode()), ...reader.endRow()];
}

class RowReader {
  #cells: string[] = [];
  #cell: string[] = [];
  #characters = 0;
  #number = 0;
  #isQuoted = false;
  #isAfterQuote = false;

  read(text: string): readonly CsvRow[] {
    return [...text.matchAll(/[",\n\r]|[^",\n\r]+/g)].flatMap(([part]) => this.#take(part));
  }

  endRow(): readonly CsvRow[] {
    if (this.#characters === 0) return [];
    this.#endCell();
    const cells = this.#characters > limits.characters ? null : this.#cells;
    this.#cells = [];
    this.#characters = 0;
    this.#number += 1;
    return [{ cells, number: this.#number }];
  }

  #take(part: string): readonly CsvRow[] {
    const isSecondQuote = part === '"' && this.#isAfterQuote;
    if (part === '"') this.#isQuoted = !this.#isQuoted;
    this.#isAfterQuote = part === '"' && !this.#isQuoted;
    if (part === '"' && !isSecondQuote) return [];
    if (this.#isQuoted || !/^[,\n\r]$/.test(part)) this.#add(part);
    else if (part === ',') this.#endCell();
    else return this.endRow();
    return [];
  }

  #add(text: string): void {
    this.#characters += text.length;
    if (this.#characters <= limits.characters) this.#cell.push(text);
  }

  #endCell(): void {
    if (this.#cells.length < limits.cells) this.#cells.push(this.#cell.join(''));
    this.#cell = [];
    this.#characters += 1;
  }
}
