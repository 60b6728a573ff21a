import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openStore, type SqliteDatabase } from '../../core/files/sqlite.ts';
import { type MediaTotal, openMediaRows } from '../media/media-rows.ts';
import { type AccountSummary, openAccountSummaries } from '../store/account-summaries.ts';
import { openImportRows, type StoredImport } from '../store/import-rows.ts';
import { migrations } from '../store/schema.ts';

/**
 * Summary of the archive for the operator: its accounts, imports, counts and sizes. The accounts exclude the built-in
 * sample.
 */
export interface ArchiveReport {
  /** Imported accounts, ordered by platform and handle. Contains only the first `reportLimits.accounts` accounts. */
  readonly accounts: readonly AccountSummary[];
  readonly accountCount: number;
  /** Most recent imports, newest first; limited by `reportLimits.imports`. */
  readonly imports: readonly StoredImport[];
  /** Number of posts in stored histories of accounts. */
  readonly historyPosts: number;
  /** Size of the database files in bytes. */
  readonly bytes: number;
  /** Number and size of the stored images, videos and audio files. */
  readonly media: MediaTotal;
}

export const reportLimits = {
  /** Maximum number of accounts in a report. */
  accounts: 200,
  /** Maximum number of imports in a report. */
  imports: 20,
} as const;

export type ArchiveReporter = ReturnType<typeof createArchiveReporter>;

/** Creates a reader of reports about the archive at `path`. Opens the database for the first report. */
export function createArchiveReporter(path: string) {
  let opened: ReturnType<typeof openTables> | undefined;
  return {
    /** Returns a report on the archive; `null` if there is no database. Yields to the event loop between accounts. */
    read: async (): Promise<ArchiveReport | null> => {
      const bytes = sizeOf(path) + sizeOf(`${path}-wal`);
      if (path === ':memory:' || bytes === 0) return null;
      opened ??= openTables(path);
      const { summarizeAccount, ...tables } = opened;
      const accounts: AccountSummary[] = [];
      for (const account of tables.listHandles(reportLimits.accounts)) {
        const summary = summarizeAccount(account);
        if (summary !== undefined) accounts.push(summary);
        await nextTurn();
      }
      return {
        accounts,
        accountCount: tables.countAccounts(),
        imports: tables.listRecentImports(reportLimits.imports),
        historyPosts: tables.countHistoryPosts(),
        bytes,
        media: tables.countMedia(),
      };
    },
    close: (): void => opened?.close(),
  };
}

const openTables = (path: string) =>
  openStore({ path, migrations, mustExist: true }, (database) => ({
    ...openAccountSummaries(database),
    ...openImportRows(database),
    countMedia: openMediaRows(database).countMedia,
    countHistoryPosts: prepareCount(database, 'kept_posts'),
    close: () => void database.close(),
  }));

function prepareCount(database: SqliteDatabase, table: string): () => number {
  const count = database.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck();
  return () => count.get() ?? 0;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
