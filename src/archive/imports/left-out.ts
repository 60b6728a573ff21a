import { countElements, countLines, countRows, type ItemCount } from './count-items.ts';
import type { ExportItem, LeftOutContent } from './export-source.ts';
import { type MediaFile, readMediaFiles } from './files/media-files.ts';

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
  path: string,
  reasonOf: ReasonOf,
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  const found = new Map<string, LeftOutContent>();
  for await (const file of readMediaFiles(path)) {
    const reason = isNoise(file.path) ? null : reasonOf(file.path);
    if (reason !== null) await addFile(found, file, reason);
    yield [];
  }
  yield [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function addFile(found: Map<string, LeftOutContent>, file: MediaFile, reason: string) {
  const { count, unit } = await countItems(file);
  const isFolder = unit === 'file';
  const name = toName(isFolder ? file.path.slice(0, file.path.lastIndexOf('/') + 1) : file.path);
  const before = found.get(name);
  if (count === 0 || (before === undefined && found.size >= limits.entries)) return;
  found.set(name, { kind: 'left-out', name, count: (before?.count ?? 0) + count, unit, reason });
}

async function countItems({ path, bytes, read }: MediaFile): Promise<ItemCount> {
  const size: ItemCount = { count: bytes, unit: 'byte' };
  const [, extension] = /\.(js|json|ndjson|csv|txt)$/.exec(path) ?? [];
  if (extension === undefined && path.includes('/')) return { count: 1, unit: 'file' };
  if (extension === undefined || extension === 'txt' || bytes > limits.countedBytes) return size;
  try {
    if (extension === 'csv') return await countRows(read());
    return await (extension === 'ndjson' ? countLines(read()) : countElements(read()));
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
