import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ExportFile, ExportFiles } from './export-files.ts';
import { openTarFiles } from './tar-files.ts';
import { openZipFiles } from './zip-files.ts';

/** Opens a folder, zip or tar file; `null` for other files. @throws Error if opening fails */
export const openExportFiles = async (path: string): Promise<ExportFiles | null> =>
  (await openFolderFiles(path)) ?? (await openZipFiles(path)) ?? openTarFiles(path);

const maxDepth = 2; // maximum depth of the files of most exports: `twitter-export/data/tweets.js`

const deepFolder = /(?:^|\/)js(?:\/tweets)?$/;

/** Size in bytes of the chunks of files. Larger chunks are faster but use more memory. */
const chunkBytes = 128 * 1024;

const maxFilesOfFolder = 2000; // larger folders contain media, which are not read

/** Opens a file with this ending as the only file of an export; returns `null` for other paths. */
export async function openSingleFile(path: string, ending: string): Promise<ExportFiles | null> {
  const found = await stat(path);
  if (!found.isFile() || !path.endsWith(ending)) return null;
  return {
    files: [{ name: basename(path), bytes: found.size }],
    read: () => createReadStream(path, { highWaterMark: chunkBytes }),
    close: async () => undefined,
  };
}

/** Returns `null` for other paths. Ignores files in deep folders, which contain media. */
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
    if (entry.isDirectory() && (depth > 0 || deepFolder.test(name)))
      found.push(...(await listFiles(root, name, depth - 1)));
    if (entry.isFile()) found.push({ name, bytes: (await stat(join(root, name))).size });
  }
  return found;
}
