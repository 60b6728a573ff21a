import type { ExportFiles } from './export-files.ts';
import { openFolderFiles } from './folder-files.ts';
import { openTarFiles } from './tar-files.ts';
import { openZipFiles } from './zip-files.ts';

/**
 * Opens the files of an export, in a folder, a zip file or a tar file; null where the path is none of
 * them.
 *
 * @throws Error with a sentence where it cannot be read
 */
export async function openExportFiles(path: string): Promise<ExportFiles | null> {
  return (await openFolderFiles(path)) ?? (await openZipFiles(path)) ?? openTarFiles(path);
}
