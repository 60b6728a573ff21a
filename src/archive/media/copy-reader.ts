import { isMissing } from '../../lib/files/private-files.ts';
import { openStore } from '../../lib/files/sqlite.ts';
import { once } from '../../lib/once.ts';
import { readSamplePictures } from '../sample.ts';
import { migrations } from '../store/schema.ts';
import { openMediaFolder } from './media-folder.ts';
import type { MediaCopy } from './media-rows.ts';

/** Public media file of the archive or of the sample, with its path on disk. */
export interface StoredCopy extends MediaCopy {
  readonly path: string;
}

export type CopyReader = ReturnType<typeof createCopyReader>;

interface CopyReaderOptions {
  /** `null` if there are no imported files to serve. */
  readonly dataFolder: string | null;
  /** Whether to serve the pictures of the sample, which are files of the package. */
  readonly sample: boolean;
}

/**
 * Creates a reader of public media files, and deletes the temporary files of interrupted imports.
 * Opens the database when the first file is requested.
 */
export function createCopyReader({ dataFolder, sample }: CopyReaderOptions) {
  const folder = dataFolder === null ? null : openMediaFolder(dataFolder);
  folder?.removeInterrupted();
  let opened: ReturnType<typeof openTables> | undefined;
  const samplePictures = once(() => (sample ? readSamplePictures() : null));
  const findImported = (hash: string): StoredCopy | undefined => {
    if (folder === null) return undefined;
    const path = `${dataFolder}/archive.db`;
    if (opened === undefined && isMissing(path)) return undefined;
    opened ??= openTables(path);
    const copy = opened.find(hash);
    return copy && { ...copy, path: folder.pathOf(copy.hash) };
  };
  return {
    /** Returns `undefined` if the file is missing or belongs only to protected accounts. */
    find: (hash: string): StoredCopy | undefined =>
      samplePictures()?.get(hash) ?? findImported(hash),
    close: (): void => opened?.close(),
  };
}

const openTables = (path: string) =>
  openStore({ path, migrations, mustExist: true }, (database) => {
    const find = database.prepare<[string], MediaCopy>(
      `SELECT * FROM media_copies WHERE hash = ?
         AND EXISTS (SELECT 1 FROM public_media WHERE public_media.hash = media_copies.hash)`,
    );
    return { find: (hash: string) => find.get(hash), close: () => void database.close() };
  });
