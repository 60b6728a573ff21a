import { type CsvRow, readCsvRows } from './csv-rows.ts';
import type { LeftOutContent } from './export-source.ts';
import { createBoundaryFinder } from './json-elements.ts';

export type ItemCount = Pick<LeftOutContent, 'count' | 'unit'>;

const space = 0x20;
const lineFeed = 0x0a;

/** Number of bytes at the start of a file in which its list must begin. */
const headBytes = 4096;

const listStart = /^\W{0,3}(?:[\w. ]{0,200}=)?\s{0,20}\[/;

const collectionStart = /"orderedItems"\s{0,20}:\s{0,20}\[/;

const emptyObject = /^\W{0,3}(?:[\w. ]{0,200}=)?\s{0,20}\{\s{0,20}\}\s{0,20};?\s{0,20}$/;

/** Counts the elements of a script's or JSON file's list unparsed; without a list, its bytes. */
export async function countElements(chunks: AsyncIterable<Uint8Array>): Promise<ItemCount> {
  const counter = createElementCounter();
  let bytes = 0;
  for await (const chunk of withLongHead(chunks)) {
    const head = bytes === 0 ? Buffer.from(chunk).toString('latin1', 0, headBytes) : '';
    if (chunk.length < headBytes && emptyObject.test(head)) return { count: 0, unit: 'item' };
    counter.add(chunk, bytes === 0 ? findList(head) : null);
    bytes += chunk.length;
  }
  return counter.count() ?? { count: bytes, unit: 'byte' };
}

function findList(head: string): number | null {
  const start = listStart.exec(head) ?? collectionStart.exec(head);
  return start && start.index + start[0].length;
}

async function* withLongHead(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Uint8Array = new Uint8Array();
  let isLong = false;
  for await (const chunk of chunks) {
    if (isLong) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    isLong = head.length >= headBytes;
    if (isLong) yield head;
  }
  if (!isLong && head.length > 0) yield head;
}

function createElementCounter() {
  const findBoundary = createBoundaryFinder();
  let isOpen = true;
  let hasList = false;
  let hasContent = false;
  let count = 0;
  const close = () => {
    if (hasContent) count += 1;
    hasContent = false;
  };
  const take = (byte: number) => {
    const boundary = findBoundary(byte);
    if (boundary !== null) close();
    isOpen = boundary !== 'end';
    hasContent ||= isOpen && boundary !== 'element' && byte > space;
  };
  return {
    /** Adds bytes of the list, which start at index `from`; `null` if the file has no list. */
    add: (chunk: Uint8Array, from: number | null) => {
      hasList ||= from !== null;
      if (hasList) for (let at = from ?? 0; at < chunk.length && isOpen; at++) take(chunk[at] ?? 0);
    },
    count: (): ItemCount | null => {
      close();
      return hasList ? { count, unit: 'item' } : null;
    },
  };
}

/** Counts the lines of a text that are not empty. */
export async function countLines(chunks: AsyncIterable<Uint8Array>): Promise<ItemCount> {
  let count = 0;
  let isEmpty = true;
  for await (const chunk of chunks) {
    for (const byte of chunk) {
      if (isEmpty && byte > space) count += 1;
      isEmpty = byte === lineFeed || (isEmpty && byte <= space);
    }
  }
  return { count, unit: 'line' };
}

const headings: ReadonlySet<string> = new Set(['account address', '#domain']);

/** Counts the rows of a CSV file that are neither empty nor a heading. */
export async function countRows(chunks: AsyncIterable<Uint8Array>): Promise<ItemCount> {
  let count = 0;
  for await (const rows of readCsvRows(chunks)) count += rows.filter(isCounted).length;
  return { count, unit: 'line' };
}

function isCounted(row: CsvRow): boolean {
  if (row.kind === 'too long') return true;
  const isHeading = row.number === 1 && headings.has(row.cells[0]?.trim().toLowerCase() ?? '');
  return !isHeading && row.cells.some((cell) => cell.trim() !== '');
}
