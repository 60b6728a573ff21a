import type {
  ExportForm,
  ExportHints,
  ExportItem,
} from '../../../src/archive/imports/export-source.ts';

/** Opens an export, reads everything in it and closes it; null where the form does not know it. */
export async function readExport(
  form: ExportForm,
  path: string,
  hints?: ExportHints,
): Promise<readonly ExportItem[] | null> {
  const source = await form.open(path, hints);
  if (source === null) return null;
  try {
    const items: ExportItem[] = [];
    for await (const group of source.groups()) items.push(...group);
    return items;
  } finally {
    await source.close();
  }
}
