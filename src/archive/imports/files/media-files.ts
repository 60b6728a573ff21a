import { constants } from 'node:fs';
import { lstat, open, opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readTarFiles } from './tar-files.ts';
import { readZipFiles } from './zip-files.ts';

/** File of an export. Its content can be read only until the caller requests the next file. */
export interface MediaFile {
  /** Path within the export, with `/` between folders. The path is not validated. */
  readonly path: string;
  /** Uncompressed size in bytes, as stated by the export. */
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
}

const limits = {
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
    if (count > limits.files) return;
    const { size: bytes } = await lstat(join(root, path));
    yield { path, bytes, read: () => readFile(join(root, path)) };
  }
}

async function* listPaths(
  root: string,
  within: string = '',
  depth: number = limits.depth,
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
