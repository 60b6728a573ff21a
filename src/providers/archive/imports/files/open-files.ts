import type { ExportFiles } from './export-files.ts';
import { openFolderFiles } from './folder-files.ts';
import { openZipFiles } from './zip-files.ts';

/**
 * Opens the files of an export, in a folder or a zip file; null where the path is neither.
 *
 * @throws Error with a sentence where it cannot be read
 */
export async function openExportFiles(path: string): Promise<ExportFiles | null> {
  return (await openFolderFiles(path)) ?? openZipFiles(path);
}
