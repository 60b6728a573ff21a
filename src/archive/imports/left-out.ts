import {
  type ExportFile,
  type ExportFiles,
  type ExportItem,
  isExportFileName,
  type LeftOutContent,
} from './export-source.ts';
import { type CsvRow, readCsvRows, readLines } from './ndjson/lines.ts';
import { endsWithinRecord, jsonElements } from './records.ts';

/** Reason to leave out a file; `null` for read files and files without account data. */
export type ReasonOf = (path: string) => string | null;

export const unknownFile = 'Perch does not import this file';

const limits = {
  entries: 10_000,
  /** Maximum size in bytes of a file whose items are counted. */
  countedBytes: 2 ** 28,
  nameLength: 200,
} as const;

/**
 * Yields an item for each left-out file of records, and for each folder of other files. Skips files
 * without records. Yields empty arrays in between, so that the caller can stop.
 */
export async function* readLeftOut(
  files: ExportFiles,
  reasonOf: ReasonOf,
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  const found = new Map<string, LeftOutContent>();
  for await (const file of files.list()) {
    const reason = isNoise(file.name) ? null : reasonOf(file.name);
    if (reason !== null) addFile(found, { file, reason, ...(await countItems(files, file)) });
    yield [];
  }
  yield [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

interface LeftOutFile extends ItemCount {
  readonly file: ExportFile;
  readonly reason: string;
}

function addFile(
  found: Map<string, LeftOutContent>,
  { file, reason, count, unit }: LeftOutFile,
): void {
  const isFolder = unit === 'file';
  const name = toName(isFolder ? file.name.slice(0, file.name.lastIndexOf('/') + 1) : file.name);
  const before = found.get(name);
  if (count === 0 || (before === undefined && found.size >= limits.entries)) return;
  found.set(name, { kind: 'left-out', name, count: (before?.count ?? 0) + count, unit, reason });
}

async function countItems({ read }: ExportFiles, file: ExportFile): Promise<ItemCount> {
  const { name, bytes } = file;
  const size: ItemCount = { count: bytes, unit: 'byte' };
  const isText = isExportFileName(name) || name.endsWith('.txt');
  if (!isText && name.includes('/')) return { count: 1, unit: 'file' };
  if (bytes > limits.countedBytes) return size;
  try {
    if (name.endsWith('.csv')) return await countRows(read(file));
    if (name.endsWith('.ndjson')) return await countLines(read(file));
    return /\.js(?:on)?$/.test(name) ? await countElements(() => read(file), bytes) : size;
  } catch {
    return size; // a damaged file is reported too
  }
}

const isNoise = (path: string): boolean =>
  /(?:^|\/)(?:__MACOSX\/|\._[^/]{0,255}$|\.DS_Store$|Thumbs\.db$|desktop\.ini$)/.test(path);

const toName = (name: string): string =>
  name
    .slice(0, limits.nameLength)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}]/gu, '\ufffd');

type ItemCount = Pick<LeftOutContent, 'count' | 'unit'>;

/** Number of bytes at the start of a file in which its list must begin. */
const headBytes = 4096;

const listStart = /^\W{0,3}(?:[\w. ]{0,200}=)?\s{0,20}\[/;

const collectionStart = /"orderedItems"\s{0,20}:\s{0,20}\[/;

const emptyObject = /^\W{0,3}(?:[\w. ]{0,200}=)?\s{0,20}\{\s{0,20}\}\s{0,20};?\s{0,20}$/;

/** Counts the elements of a script's or JSON file's list unparsed; without a list, its bytes. */
export async function countElements(
  read: () => AsyncIterable<Uint8Array>,
  bytes: number,
): Promise<ItemCount> {
  const head = await readHead(read());
  if (bytes < headBytes && emptyObject.test(head)) return { count: 0, unit: 'item' };
  const start = [listStart, collectionStart].find((pattern) => pattern.test(head));
  if (start === undefined) return { count: bytes, unit: 'byte' };
  let count = 0;
  for await (const elements of jsonElements(read(), { start, prepare: () => '0' }))
    for (const found of elements)
      if (found.kind === 'value' || !found.isCutOff || found.reason === endsWithinRecord)
        count += 1;
  return { count, unit: 'item' };
}

async function readHead(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let head = Buffer.alloc(0);
  for await (const chunk of chunks) {
    head = Buffer.concat([head, chunk]);
    if (head.length >= headBytes) break;
  }
  return head.toString('latin1', 0, headBytes);
}

/** Counts the lines of a text that are not empty. */
export async function countLines(chunks: AsyncIterable<Uint8Array>): Promise<ItemCount> {
  let count = 0;
  for await (const lines of readLines(chunks)) count += lines.length;
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
