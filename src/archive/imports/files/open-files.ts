import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExportFile, ExportFiles } from './export-files.ts';
import { openTarFiles } from './tar-files.ts';
import { openZipFiles } from './zip-files.ts';

/**
 * Opens a folder, a zip file or a tar file; null for anything else. @throws Error with a sentence if it cannot be read
 */
export async function openExportFiles(path: string): Promise<ExportFiles | null> {
  return (await openFolderFiles(path)) ?? (await openZipFiles(path)) ?? openTarFiles(path);
}

/** How deep the files of an export lie: `twitter-export/data/tweets.js`. */
const maxDepth = 2;

/** Each chunk takes a turn of the event loop. Larger ones keep more records in memory at once. */
const chunkBytes = 128 * 1024;

/** More files in one folder are pictures and videos, which nobody reads. */
const maxFilesOfFolder = 2000;

/** Opens a folder; null if it is none. What lies deeper than two folders is not seen. */
export async function openFolderFiles(path: string): Promise<ExportFiles | null> {
  if (!(await stat(path)).isDirectory()) return null;
  const files = await listFiles(path, '', maxDepth);
  return {
    files,
    read: ({ name }) => createReadStream(join(path, name), { highWaterMark: chunkBytes }),
    close: async () => undefined,
  };
}

async function listFiles(root: string, within: string, depth: number): Promise<ExportFile[]> {
  const entries = await readdir(join(root, within), { withFileTypes: true });
  if (entries.length > maxFilesOfFolder) return [];
  const found: ExportFile[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = within === '' ? entry.name : `${within}/${entry.name}`;
    if (entry.isDirectory() && depth > 0) found.push(...(await listFiles(root, name, depth - 1)));
    if (entry.isFile()) found.push({ name, bytes: (await stat(join(root, name))).size });
  }
  return found;
}
