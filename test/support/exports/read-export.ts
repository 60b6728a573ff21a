import type {
  ExportFormat,
  ExportHints,
  ExportItem,
  ExportSource,
  LeftOutContent,
} from '../../../src/archive/imports/export-source.ts';
import { openExport } from '../../../src/archive/imports/run-import.ts';

/** Time of the imports in tests. */
const importedMs = Date.UTC(2026, 10, 1);

/** Opens an export. Returns `null` if the format does not recognize it. */
export const openSource = async (
  format: ExportFormat,
  path: string,
  hints: ExportHints = {},
): Promise<ExportSource | null> =>
  (await openExport(path, { formats: [format], hints }))?.source ?? null;

/** Reads all imported and skipped records of an export. Returns `null` if the format does not recognize the export. */
export async function readExport(
  format: ExportFormat,
  path: string,
  hints?: ExportHints,
): Promise<readonly ExportItem[] | null> {
  const items = await readItems(format, path, hints);
  return items?.filter(({ kind }) => kind !== 'left-out') ?? null;
}

/** Reads the content of an export that is left out, as lines: name, count, unit and reason. */
export async function readLeftOutLines(
  format: ExportFormat,
  path: string,
  hints?: ExportHints,
): Promise<readonly string[]> {
  return toLines((await readItems(format, path, hints)) ?? []);
}

/** Describes the content that is left out. */
export const toLines = (items: readonly ExportItem[]): readonly string[] =>
  items
    .filter((item): item is LeftOutContent => item.kind === 'left-out')
    .map(({ name, count, unit, reason }) => `${name} ${count} ${unit} ${reason}`);

async function readItems(
  format: ExportFormat,
  path: string,
  hints: ExportHints | undefined,
): Promise<readonly ExportItem[] | null> {
  const source = await openSource(format, path, { nowMs: importedMs, ...hints });
  if (source === null) return null;
  try {
    const items: ExportItem[] = [];
    for await (const group of source.groups()) items.push(...group);
    return items;
  } finally {
    await source.close();
  }
}
