import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Entry, ZipFile as ReadZip } from 'yauzl';
import type { ZipFile } from 'yazl';
import { journalSuffixes, mediaFolderName } from '../../core/files/data-folder.ts';
import { giveToOwnerOf, makePrivateFolder } from '../../core/files/private-files.ts';
import { connectSqlite } from '../../core/files/sqlite.ts';

/** Archived media file. `name` is its path in both the data folder and the backup. */
export interface SavedMedia {
  readonly name: string;
  readonly bytes: number;
}

/** Pattern of the paths of media files in a backup. Captures the SHA-256 hash of the content. */
export const mediaName = /^media\/[0-9a-f]{2}\/([0-9a-f]{64})$/;

/** Lists the archive's media files, without those that are missing in `folder`. */
export function listMedia(archivePath: string, folder: string): readonly SavedMedia[] {
  if (!existsSync(archivePath)) return [];
  const database = connectSqlite({ path: archivePath, mustExist: true });
  try {
    const table = "SELECT 1 FROM sqlite_schema WHERE name = 'media_copies'";
    if (database.prepare(table).get() === undefined) return [];
    const rows = database.prepare<[], { readonly hash: string; readonly bytes: number }>(
      'SELECT hash, bytes FROM media_copies ORDER BY hash',
    );
    return rows
      .all()
      .map(({ hash, bytes }) => ({ name: `${mediaFolderName}/${hash.slice(0, 2)}/${hash}`, bytes }))
      .filter(
        ({ name, bytes }) =>
          mediaName.test(name) &&
          statSync(`${folder}/${name}`, { throwIfNoEntry: false })?.size === bytes,
      );
  } finally {
    database.close();
    for (const suffix of journalSuffixes) rmSync(`${archivePath}${suffix}`, { force: true });
  }
}

export const totalOf = (media: readonly SavedMedia[]) => ({
  files: media.length,
  bytes: media.reduce((sum, { bytes }) => sum + bytes, 0),
});

/** Adds media files without compression: their formats are already compressed. */
export function addMedia(
  zip: ZipFile,
  media: readonly SavedMedia[],
  {
    folder,
    ...attributes
  }: { readonly folder: string; readonly mtime: Date; readonly mode: number },
): void {
  for (const { name } of media) {
    zip.addFile(`${folder}/${name}`, name, { ...attributes, compress: false });
  }
}

interface MediaExtraction {
  readonly zip: ReadZip;
  readonly entry: Entry;
  /** Folder to write the file to; `null` to check the file without writing it. */
  readonly target: string | null;
  readonly signal: AbortSignal;
}

/** Returns whether the SHA-256 hash of the content matches the file name. */
export async function extractMedia({ zip, entry, target, signal }: MediaExtraction) {
  const hash = createHash('sha256');
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const input = await zip.openReadStreamPromise(entry);
  await pipeline(input, check, openOutput(entry.fileName, target), { signal });
  return hash.digest('hex') === mediaName.exec(entry.fileName)?.[1];
}

function openOutput(name: string, target: string | null): Writable {
  if (target === null) return new Writable({ write: (_chunk, _encoding, done) => done() });
  const path = `${target}/${name}`;
  makePrivateFolder(dirname(path));
  for (const folder of [dirname(dirname(path)), dirname(path)]) giveToOwnerOf(target, folder);
  const output = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  return output.once('open', () => giveToOwnerOf(target, path));
}
