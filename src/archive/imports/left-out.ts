import {
  type ExportFile,
  type ExportFiles,
  type ExportItem,
  folderOf,
  isExportFileName,
  type LeftOutContent,
  readStart,
} from './export-source.ts';
import { type CsvRow, readCsvRows, readLines } from './ndjson/lines.ts';
import { endsWithinRecord, jsonElements } from './records.ts';

export const unknownFile = 'Perch does not import this file';

/**
 * Files of an export that are not imported. The first rule that matches a path within `folder`,
 * without the end of scripts such as `-part1.js`, has the reason; `null` for files without account
 * data.
 */
export interface LeftOutRules {
  readonly folder: string;
  readonly imported: readonly (ExportFile | undefined)[];
  readonly rules: readonly (readonly [path: RegExp, reason: string | null])[];
}

function createReasonOf({ folder, imported, rules }: LeftOutRules) {
  const names = new Set(imported.map((file) => file?.name));
  return (path: string): string | null => {
    if (names.has(path) || noise.test(path)) return null;
    const own = path.startsWith(folder) ? path.slice(folder.length) : path;
    const name = own.replace(/(?:[-_]part\d{1,9})?\.js$/, '');
    const rule = rules.find(([pattern]) => pattern.test(name));
    return rule === undefined ? unknownFile : rule[1];
  };
}

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
  rules: LeftOutRules,
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  const reasonOf = createReasonOf(rules);
  const found = new Map<string, LeftOutContent>();
  for await (const file of files.list()) {
    const reason = reasonOf(file.name);
    const { count, unit } = reason === null ? noItems : await countItems(file);
    const name = toName(unit === 'file' ? folderOf(file.name) : file.name);
    const before = found.get(name);
    if (reason !== null && count > 0 && (before !== undefined || found.size < limits.entries)) {
      found.set(name, {
        kind: 'left-out',
        name,
        count: (before?.count ?? 0) + count,
        unit,
        reason,
      });
    }
    yield [];
  }
  yield [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const noItems: ItemCount = { count: 0, unit: 'item' };

async function countItems({ name, bytes, read }: ExportFile): Promise<ItemCount> {
  const size: ItemCount = { count: bytes, unit: 'byte' };
  const isText = isExportFileName(name) || name.endsWith('.txt');
  if (!isText && name.includes('/')) return { count: 1, unit: 'file' };
  if (bytes > limits.countedBytes) return size;
  try {
    if (name.endsWith('.csv')) return await countRows(read());
    if (name.endsWith('.ndjson')) return await countLines(read());
    return /\.js(?:on)?$/.test(name) ? await countElements(read, bytes) : size;
  } catch {
    return size; // a damaged file is reported too
  }
}

const noise = /(?:^|\/)(?:__MACOSX\/|\._[^/]{0,255}$|\.DS_Store$|Thumbs\.db$|desktop\.ini$)/;

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
  const head = (await readStart(read(), headBytes)).toString('latin1');
  if (bytes < headBytes && emptyObject.test(head)) return noItems;
  const start = [listStart, collectionStart].find((pattern) => pattern.test(head));
  if (start === undefined) return { count: bytes, unit: 'byte' };
  return { count: await countList(read(), start), unit: 'item' };
}

/** Counts the elements of a list unparsed, and a truncated one at the end of the file. */
export async function countList(chunks: AsyncIterable<Uint8Array>, start: RegExp): Promise<number> {
  let count = 0;
  for await (const elements of jsonElements(chunks, { start, prepare: () => '0' }))
    for (const found of elements)
      if (found.kind === 'value' || !found.isCutOff || found.reason === endsWithinRecord)
        count += 1;
  return count;
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

function isCounted({ cells, number }: CsvRow): boolean {
  if (cells === null) return true;
  const isHeading = number === 1 && headings.has(cells[0]?.trim().toLowerCase() ?? '');
  return !isHeading && cells.some((cell) => cell.trim() !== '');
}
