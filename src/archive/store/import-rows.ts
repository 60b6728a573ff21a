import type { SqliteDatabase } from '../../lib/files/sqlite.ts';
import type { AccountReference, Platform } from '../../model/reference.ts';

export const noCounts = {
  accounts: 0,
  posts: 0,
  reposts: 0,
  follows: 0,
  faults: 0,
  hidden: 0,
  left_out: 0,
};

/** Numbers of records. `faults`: unreadable. `hidden`: not public. `left_out`: files left out. */
export type ImportCounts = Readonly<typeof noCounts>;

export interface NewImport {
  readonly fingerprint: string;
  readonly title: string;
  readonly name: string;
  /** Unix second of the export. */
  readonly exported: number;
}

/** Record of an import with its progress. Times are in Unix seconds. */
export interface StoredImport extends NewImport {
  readonly number: number;
  readonly begun: number;
  readonly updated: number;
  readonly isDone: boolean;
  readonly items: number;
  readonly counts: ImportCounts;
}

interface ImportRow extends Omit<StoredImport, 'isDone' | 'counts'> {
  readonly done: number;
  readonly counts: string;
}

interface ImportProgress extends Pick<StoredImport, 'items' | 'counts' | 'isDone'> {
  /** Number of items that this process last saw; if another is stored, the update fails. */
  readonly before: number;
  readonly now: number;
}

export function openImportRows(database: SqliteDatabase) {
  const find = database.prepare<unknown[], ImportRow>(
    'SELECT * FROM imports WHERE fingerprint = ?',
  );
  const insert = database.prepare<unknown[], ImportRow>(
    `INSERT INTO imports (fingerprint, title, name, exported, begun, updated, done, items, counts)
     VALUES (@fingerprint, @title, @name, @exported, @now, @now, 0, 0, @counts) RETURNING *`,
  );
  const advance = database.prepare(
    `UPDATE imports SET items = @items, counts = @counts, done = @done, updated = @now
     WHERE number = @number AND items = @before AND done = 0`,
  );
  const note = database.prepare('INSERT OR IGNORE INTO import_accounts VALUES (?, ?, ?)');
  const list = database.prepare<unknown[], ImportRow>(
    `SELECT imports.* FROM import_accounts JOIN imports ON imports.number = import
     WHERE platform = ? AND handle = ? ORDER BY exported DESC, number DESC`,
  );
  const listRecent = database.prepare<[number], ImportRow>(
    'SELECT * FROM imports ORDER BY updated DESC, number DESC LIMIT ?',
  );
  const begin = database.transaction((found: NewImport, now: number) => {
    const row =
      find.get(found.fingerprint) ??
      insert.get({ ...found, now, counts: JSON.stringify(noCounts) });
    if (row === undefined) throw new Error('The inserted import was not returned.');
    return toImport(row);
  });
  return {
    /** Returns the record of an import, and creates it if needed. `now` is in Unix seconds. */
    beginImport: (found: NewImport, now: number): StoredImport => begin.immediate(found, now),
    /**
     * Stores the progress of an import. Returns `false` and stores nothing if the import is done,
     * or if the number of items differs from `progress.before`, because another process has
     * continued it.
     */
    advanceImport: (number: number, { isDone, counts, ...progress }: ImportProgress): boolean => {
      const row = { ...progress, number, done: Number(isDone), counts: JSON.stringify(counts) };
      return advance.run(row).changes === 1;
    },
    addImportedAccount: (number: number, { platform, handle }: AccountReference) =>
      void note.run(platform, handle, number),
    /** Returns the last `limit` imports, most recent first. */
    listRecentImports: (limit: number): readonly StoredImport[] =>
      listRecent.all(limit).map(toImport),
    /** Returns the imports that contain an account, newest export first. */
    listImports: (platform: Platform, handle: string): readonly StoredImport[] =>
      list.all(platform, handle).map(toImport),
  };
}

function toImport({ done, counts, ...row }: ImportRow): StoredImport {
  // This module wrote the JSON from ImportCounts.
  return { ...row, isDone: done === 1, counts: { ...noCounts, ...(JSON.parse(counts) as object) } };
}
