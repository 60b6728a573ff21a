import { openStore, type SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Platform } from '../../model/reference.ts';
import { openExportRows } from '../export/export-rows.ts';
import { openHistories } from '../histories/history.ts';
import { openKeptDrop } from '../histories/kept-histories.ts';
import { openPostSearch, openUserSearch } from '../search/search.ts';
import { openAccountRows, openProtection } from './account-rows.ts';
import { openConnections } from './connections.ts';
import { openHoldings } from './holdings.ts';
import { openImportRows } from './import-rows.ts';
import { openPostRows } from './post-rows.ts';
import { migrations } from './schema.ts';
import { createRevive } from './stored-json.ts';
import { openTimelines } from './timeline.ts';

/** The archive's tables. Close it with `close()`. */
export type ArchiveStore = ReturnType<typeof prepareTables>;

/**
 * Opens the archive's database. `baseUrl` is Perch's own address, for which stored JSON has a placeholder.
 * @throws Error if the file cannot be opened or was written by a newer version.
 */
export function openArchiveStore(path: string, baseUrl: string): ArchiveStore {
  return openStore({ path, migrations }, (database) => prepareTables(database, baseUrl));
}

function prepareTables(database: SqliteDatabase, baseUrl: string) {
  const revive = createRevive(baseUrl, openProtection(database));
  return {
    ...openWhole(database),
    ...openAccountRows(database, revive),
    ...openPostRows(database, revive),
    ...openTimelines(database, revive),
    ...openConnections(database, revive),
    ...openPostSearch(database, revive),
    ...openUserSearch(database, revive),
    ...openImportRows(database),
    ...openHoldings(database),
    ...openExportRows(database),
    ...openHistories(database, revive),
  };
}

function openWhole(database: SqliteDatabase) {
  const readFact = database
    .prepare<unknown[], string>('SELECT value FROM facts WHERE name = ?')
    .pluck();
  const writeFact = database.prepare('INSERT OR REPLACE INTO facts VALUES (?, ?)');
  const run = database.transaction((write: () => void) => write());
  const removals = [
    ...['post', 'account'].map(
      (kind) =>
        `${kind}_words WHERE rowid IN (SELECT number FROM ${kind}s WHERE platform = @platform)`,
    ),
    ...['posts', 'reposts', 'accounts', 'follows'].map(
      (table) => `${table} WHERE platform = @platform`,
    ),
  ].map((rows) => database.prepare(`DELETE FROM ${rows}`));
  return {
    /** Runs `write` in one transaction that no other process can interleave with. */
    transact: (write: () => void): void => run.immediate(write),
    readFact: (name: string) => readFact.get(name),
    writeFact: (name: string, value: string) => void writeFact.run(name, value),
    removePlatform: (platform: Platform): void => {
      for (const removal of removals) removal.run({ platform });
    },
    /** Forgets the imported history of an account, held or not; returns how many posts it had. */
    dropKept: openKeptDrop(database),
    close: () => void database.close(),
  };
}
