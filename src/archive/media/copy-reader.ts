import { isMissing } from '../../core/files/private-files.ts';
import { openStore, type SqliteDatabase } from '../../core/files/sqlite.ts';
import { migrations } from '../store/schema.ts';
import { openMediaFolder } from './media-folder.ts';
import type { MediaCopy } from './media-rows.ts';

/** Public media file in the archive, with its path on disk. */
export interface StoredCopy extends MediaCopy {
  readonly path: string;
}

export type CopyReader = ReturnType<typeof createCopyReader>;

/**
 * Creates a reader of the archive's public media files. Deletes the temporary files of interrupted imports. Opens the
 * database when the first file is requested. `dataFolder` is `null` if the server does not serve the archive.
 */
export function createCopyReader(dataFolder: string | null) {
  const folder = dataFolder === null ? null : openMediaFolder(dataFolder);
  folder?.removeInterrupted();
  let opened: ReturnType<typeof openTables> | undefined;
  return {
    /** Finds a file by its hash. Returns `undefined` if the file is missing or belongs only to protected accounts. */
    find: (hash: string): StoredCopy | undefined => {
      if (folder === null) return undefined;
      const path = `${dataFolder}/archive.db`;
      if (opened === undefined && isMissing(path)) return undefined;
      opened ??= openTables(path);
      const copy = opened.find(hash);
      return copy && { ...copy, path: folder.pathOf(copy.hash) };
    },
    close: (): void => opened?.close(),
  };
}

const openTables = (path: string) =>
  openStore({ path, migrations, mustExist: true }, (database) => ({
    find: prepareFind(database),
    close: () => void database.close(),
  }));

function prepareFind(database: SqliteDatabase) {
  const find = database.prepare<[string], MediaCopy>(
    `SELECT * FROM media_copies WHERE hash = ?
       AND EXISTS (SELECT 1 FROM public_media WHERE public_media.hash = media_copies.hash)`,
  );
  return (hash: string): MediaCopy | undefined => find.get(hash);
}
