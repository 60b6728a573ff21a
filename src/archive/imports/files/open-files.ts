import { constants, createReadStream } from 'node:fs';
import { lstat, open, opendir, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ExportFile, ExportFiles, MediaFile } from './export-files.ts';
import { openTarFiles, readTarFiles } from './tar-files.ts';
import { openZipFiles, readZipFiles } from './zip-files.ts';

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

const mediaLimits = {
  /** Maximum depth of folders. Mastodon's are deep: `media_attachments/files/109/…/a.png`. */
  depth: 16,
  /** Maximum number of files in a folder and its subfolders. Further files are ignored. */
  files: 2_000_000,
} as const;

/** Yields all files of an export, in any order. Does not follow symbolic links. */
export async function* readMediaFiles(path: string): AsyncGenerator<MediaFile, void, undefined> {
  if ((await stat(path)).isDirectory()) yield* readFolder(path);
  else yield* (await readZipFiles(path)) ?? readTarFiles(path);
}

const openFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

async function* readFolder(root: string): AsyncGenerator<MediaFile, void, undefined> {
  let count = 0;
  for await (const path of listPaths(root)) {
    count += 1;
    if (count > mediaLimits.files) return;
    const { size: bytes } = await lstat(join(root, path));
    yield { path, bytes, read: () => readFile(join(root, path)) };
  }
}

async function* listPaths(
  root: string,
  within: string = '',
  depth: number = mediaLimits.depth,
): AsyncGenerator<string, void, undefined> {
  const folders: string[] = [];
  for await (const entry of await opendir(join(root, within))) {
    const path = within === '' ? entry.name : `${within}/${entry.name}`;
    if (entry.isFile()) yield path;
    if (entry.isDirectory()) folders.push(path);
  }
  if (depth > 1) for (const folder of folders) yield* listPaths(root, folder, depth - 1);
}

async function* readFile(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await open(path, openFlags);
  yield* file.createReadStream();
}
