import { openStore, type SqliteDatabase } from '../../lib/files/sqlite.ts';
import type { Platform } from '../../model/reference.ts';
import { openExportRows } from '../export/export-rows.ts';
import { openHistoryDelete } from '../histories/history-store.ts';
import { createMediaLinks, openMediaRows } from '../media/media-rows.ts';
import { openPostSearch, openUserSearch } from '../search/search.ts';
import { openAccountRows, openProtection } from './account-rows.ts';
import { openAccountSummaries } from './account-summaries.ts';
import { openConnections } from './connections.ts';
import { openImportRows } from './import-rows.ts';
import { openPostRows } from './post-rows.ts';
import { migrations } from './schema.ts';
import { createRowDecoder } from './stored-json.ts';
import { openHistories, openTimelines } from './timeline.ts';

/** Archive of imported accounts and posts in SQLite. Close it with `close()`. */
export type ArchiveStore = ReturnType<typeof prepareTables>;

/** Opens the archive. `baseUrl` replaces `perch:` in URLs. @throws Error if it is unusable */
export const openArchiveStore = (path: string, baseUrl: string): ArchiveStore =>
  openStore({ path, migrations }, (database) => prepareTables(database, baseUrl));

function prepareTables(database: SqliteDatabase, baseUrl: string) {
  const isProtected = openProtection(database);
  const links = createMediaLinks(database, baseUrl);
  const decoder = createRowDecoder({ baseUrl, isProtected, links });
  return {
    ...openStoreOperations(database),
    ...openAccountRows(database, decoder),
    ...openPostRows(database, decoder),
    ...openTimelines(database, decoder),
    ...openConnections(database, decoder),
    ...openPostSearch(database, decoder),
    ...openUserSearch(database, decoder),
    ...openImportRows(database),
    ...openAccountSummaries(database),
    ...openExportRows(database),
    ...openHistories(database, decoder),
    ...openMediaRows(database),
  };
}

function openStoreOperations(database: SqliteDatabase) {
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
    /** Runs `write` in an immediate transaction: no other process can write at the same time. */
    transact: (write: () => void): void => run.immediate(write),
    readFact: (name: string) => readFact.get(name),
    writeFact: (name: string, value: string) => void writeFact.run(name, value),
    removePlatform: (platform: Platform): void => {
      for (const removal of removals) removal.run({ platform });
    },
    deleteHistory: openHistoryDelete(database),
    close: () => void database.close(),
  };
}
