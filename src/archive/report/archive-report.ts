import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openStore } from '../../lib/files/sqlite.ts';
import { type MediaTotal, openMediaRows } from '../media/media-rows.ts';
import { type AccountSummary, openAccountSummaries } from '../store/account-summaries.ts';
import { openImportRows, type StoredImport } from '../store/import-rows.ts';
import { migrations } from '../store/schema.ts';

/** Summary of the archive for the operator. The accounts exclude the built-in sample. */
export interface ArchiveReport {
  /** First `reportLimits.accounts` imported accounts, ordered by platform and handle. */
  readonly accounts: readonly AccountSummary[];
  readonly accountCount: number;
  /** Last `reportLimits.imports` imports, newest first. */
  readonly imports: readonly StoredImport[];
  readonly historyPosts: number;
  readonly bytes: number;
  readonly media: MediaTotal;
}

export const reportLimits = { accounts: 200, imports: 20 } as const;

export type ArchiveReporter = ReturnType<typeof createArchiveReporter>;

/** Creates a reader of reports. Opens the database for the first report. */
export function createArchiveReporter(path: string) {
  let opened: ReturnType<typeof openTables> | undefined;
  return {
    /** Returns `null` if there is no database. Yields to the event loop between accounts. */
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
  openStore({ path, migrations, mustExist: true }, (database) => {
    const count = database.prepare<[], number>('SELECT count(*) FROM kept_posts').pluck();
    return {
      ...openAccountSummaries(database),
      ...openImportRows(database),
      countMedia: openMediaRows(database).countMedia,
      countHistoryPosts: () => count.get() ?? 0,
      close: () => void database.close(),
    };
  });

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
