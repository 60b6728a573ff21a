import { openStore, type SqliteDatabase } from '../../core/files/sqlite.ts';
import type { AccountReference, Platform } from '../../model/reference.ts';
import { type ExportRows, openExportRows } from '../export/export-rows.ts';
import { type Histories, openHistories } from '../histories/history.ts';
import { openKeptDrop } from '../histories/kept-histories.ts';
import { openPostSearch, type PostSearch } from '../search/search.ts';
import { openUserSearch, type UserSearch } from '../search/user-search.ts';
import { type AccountRows, openAccountRows, openProtection } from './account-rows.ts';
import { type Connections, openConnections } from './connections.ts';
import { type Holdings, openHoldings } from './holdings.ts';
import { type ImportRows, openImportRows } from './import-rows.ts';
import { openPostRows, type PostRows } from './post-rows.ts';
import { migrations } from './schema.ts';
import { createRevive } from './stored-json.ts';
import { openTimelines, type Timelines } from './timeline.ts';

/** What concerns the whole archive. */
interface Whole {
  /** Runs `write` in one transaction that no other process can interleave with. */
  transact(write: () => void): void;
  readFact(name: string): string | undefined;
  writeFact(name: string, value: string): void;
  removePlatform(platform: Platform): void;
  /** Forgets the imported history of an account, held or not; gives how many posts it had. */
  dropKept(account: AccountReference): number;
  close(): void;
}

/** The archive's tables. Close it with `close()`. */
export type ArchiveStore = Whole &
  AccountRows &
  PostRows &
  Timelines &
  Connections &
  PostSearch &
  UserSearch &
  ImportRows &
  Holdings &
  ExportRows &
  Histories;

/**
 * Opens the archive's database and creates its tables where they are missing.
 *
 * @param baseUrl Perch's own address, put where stored JSON has the placeholder.
 * @throws Error when the file cannot be opened or was written by a newer version.
 */
export function openArchiveStore(path: string, baseUrl: string): ArchiveStore {
  return openStore({ path, migrations }, (database) => prepareTables(database, baseUrl));
}

function prepareTables(database: SqliteDatabase, baseUrl: string): ArchiveStore {
  const revive = createRevive({ baseUrl, isProtected: openProtection(database) });
  return {
    ...openWhole(database),
    ...openAccountRows(database, revive),
    ...openPostRows(database, revive),
    ...openTimelines(database, revive),
    ...openConnections(database, { revive, baseUrl }),
    ...openPostSearch(database, revive),
    ...openUserSearch(database, revive),
    ...openImportRows(database),
    ...openHoldings(database),
    ...openExportRows(database),
    ...openHistories(database, revive),
  };
}

function openWhole(database: SqliteDatabase): Whole {
  const readFact = database
    .prepare<unknown[], string>('SELECT value FROM facts WHERE name = ?')
    .pluck();
  const writeFact = database.prepare('INSERT OR REPLACE INTO facts VALUES (?, ?)');
  const run = database.transaction((write: () => void) => write());
  return {
    transact: (write) => run.immediate(write),
    readFact: (name) => readFact.get(name),
    writeFact: (name, value) => void writeFact.run(name, value),
    removePlatform: openRemoval(database),
    dropKept: openKeptDrop(database),
    close: () => database.close(),
  };
}

function openRemoval(database: SqliteDatabase): Whole['removePlatform'] {
  const words = (['post', 'account'] as const).map((kind) =>
    database.prepare(
      `DELETE FROM ${kind}_words WHERE rowid IN (SELECT number FROM ${kind}s WHERE platform = ?)`,
    ),
  );
  const rows = ['posts', 'reposts', 'accounts', 'follows'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE platform = ?`),
  );
  return (platform) => {
    for (const statement of [...words, ...rows]) statement.run(platform);
  };
}
