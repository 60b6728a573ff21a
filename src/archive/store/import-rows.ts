import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Platform } from '../../model/reference.ts';

/** What an import has read so far. */
export interface ImportCounts {
  readonly accounts: number;
  readonly posts: number;
  readonly reposts: number;
  readonly follows: number;
  /** Records that could not be read. */
  readonly faults: number;
  /** Records that their author did not show to everybody. */
  readonly hidden: number;
}

/** Nothing read. */
export const noCounts: ImportCounts = {
  accounts: 0,
  posts: 0,
  reposts: 0,
  follows: 0,
  faults: 0,
  hidden: 0,
};

/** An export that is imported, or was begun. */
export interface NewImport {
  /** What tells this export from every other (`fingerprintExport`). */
  readonly fingerprint: string;
  /** What it is: `X export`. */
  readonly title: string;
  /** The name of its file or folder. */
  readonly name: string;
  /** When it was made, in Unix seconds. */
  readonly exported: number;
}

/** How far an import is. Times in Unix seconds. */
export interface StoredImport extends NewImport {
  readonly number: number;
  readonly begun: number;
  readonly updated: number;
  readonly isDone: boolean;
  /** How many of its items are in the archive, counted from the first. */
  readonly items: number;
  readonly counts: ImportCounts;
}

/** How far an import has come with a batch. */
export interface ImportProgress {
  /** How many items were there before: if it is not so any more, somebody else imports the same. */
  readonly before: number;
  readonly items: number;
  readonly counts: ImportCounts;
  readonly isDone: boolean;
  /** Unix seconds. */
  readonly now: number;
}

/** The table of imports. */
export interface ImportRows {
  /** Gives the import of an export, as far as it has come; begins it where there is none. */
  beginImport(found: NewImport, now: number): StoredImport;
  /** Notes how far an import is; false, and nothing noted, where it is not where it was before. */
  advanceImport(number: number, progress: ImportProgress): boolean;
  /** Notes that an account is in an import. */
  noteImported(
    number: number,
    account: { readonly platform: Platform; readonly handle: string },
  ): void;
  /** Gives the imports that an account is in, the newest export first. */
  importsOf(platform: Platform, handle: string): readonly StoredImport[];
}

interface ImportRow extends Omit<StoredImport, 'isDone' | 'counts'> {
  readonly done: number;
  readonly counts: string;
}

/** Prepares what writes and reads the imports. */
export function openImportRows(database: SqliteDatabase): ImportRows {
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
  const begin = database.transaction((found: NewImport, now: number) => {
    const row = find.get(found.fingerprint);
    const counts = JSON.stringify(noCounts);
    return row ?? insert.get({ ...found, now, counts });
  });
  return {
    beginImport: (found, now) => {
      const row = begin.immediate(found, now);
      if (row === undefined) throw new Error('The import that was begun is not there.');
      return toImport(row);
    },
    advanceImport: (number, { isDone, counts, ...progress }) => {
      const row = { ...progress, number, done: Number(isDone), counts: JSON.stringify(counts) };
      return advance.run(row).changes === 1;
    },
    noteImported: (number, { platform, handle }) => void note.run(platform, handle, number),
    importsOf: (platform, handle) => list.all(platform, handle).map(toImport),
  };
}

function toImport({ done, counts, ...row }: ImportRow): StoredImport {
  // Written by this module from ImportCounts.
  return { ...row, isDone: done === 1, counts: { ...noCounts, ...(JSON.parse(counts) as object) } };
}
