import type {
  ExportFormat,
  ExportHints,
  ExportItem,
} from '../../../src/archive/imports/export-source.ts';

/** Reads all items of an export. Returns `null` if the format does not recognize the export. */
export async function readExport(
  format: ExportFormat,
  path: string,
  hints?: ExportHints,
): Promise<readonly ExportItem[] | null> {
  const source = await format.open(path, hints);
  if (source === null) return null;
  try {
    const items: ExportItem[] = [];
    for await (const group of source.groups()) items.push(...group);
    return items;
  } finally {
    await source.close();
  }
}
