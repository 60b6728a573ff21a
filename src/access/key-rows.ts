import type { Migration, SqliteDatabase } from '../core/sqlite.ts';
import type { KeyChanges, KeyRecord } from './key-record.ts';

/** The schema of the key store, step by step. */
export const keyMigrations: readonly Migration[] = [
  (database) =>
    database.exec(`
      CREATE TABLE keys (
        hash TEXT PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        label TEXT NOT NULL,
        enabled INTEGER NOT NULL,
        allowance INTEGER,
        created INTEGER NOT NULL,
        last_used INTEGER,
        notes TEXT
      ) STRICT, WITHOUT ROWID
    `),
];

/** What a request needs to know of a key. */
export interface FoundKey {
  readonly id: string;
  readonly enabled: boolean;
  readonly allowance: number | null;
}

/** What takes the place of a key. */
export interface Replacement {
  readonly id: string;
  readonly hash: string;
  readonly createdMs: number;
}

/** The rows of one connection. Each change is one transaction, on the disk when it returns. */
export interface KeyRows {
  /**
   * Gives a number that stands as long as no other connection has changed the file. It reads the
   * file, so a lock of somebody else shows.
   */
  version(): number;
  find(hash: string): FoundKey | undefined;
  /** All keys, oldest first. */
  list(): readonly KeyRecord[];
  insert(record: KeyRecord, hash: string): void;
  /** Gives the changed record; undefined where there is no such key. */
  change(id: string, changes: KeyChanges): KeyRecord | undefined;
  /** Whether there was such a key. */
  remove(id: string): boolean;
  /** Deletes a key and adds one like it; undefined where there is no such key. */
  replace(id: string, replacement: Replacement): KeyRecord | undefined;
  /** Notes when keys were used, by id in Unix milliseconds. A key that is gone stays gone. */
  noteUses(uses: ReadonlyMap<string, number>): void;
}

/** Prepares the statements of a connection whose schema is there. */
export function openKeyRows(database: SqliteDatabase): KeyRows {
  const find = database.prepare<[string], Pick<Row, 'id' | 'enabled' | 'allowance'>>(
    'SELECT id, enabled, allowance FROM keys WHERE hash = ?',
  );
  const list = database.prepare<[], Row>(`SELECT ${columns} FROM keys ORDER BY created, id`);
  const noteUse = database.prepare(
    'UPDATE keys SET last_used = :at WHERE id = :id AND ifnull(last_used, -1) < :at',
  );
  const version = database.prepare<[], number>('PRAGMA data_version').pluck();
  return {
    version: () => version.get() ?? 0,
    find: (hash) => {
      const row = find.get(hash);
      return row && { ...row, enabled: row.enabled !== 0 };
    },
    list: () => list.all().map(toRecord),
    noteUses: createTransaction(database, (uses: ReadonlyMap<string, number>) => {
      for (const [id, at] of uses) noteUse.run({ id, at });
    }),
    ...openChanges(database),
  };
}

interface Row {
  readonly id: string;
  readonly label: string;
  readonly enabled: number;
  readonly allowance: number | null;
  readonly created: number;
  readonly last_used: number | null;
  readonly notes: string | null;
}

const columns = 'id, label, enabled, allowance, created, last_used, notes';

function openChanges(
  database: SqliteDatabase,
): Pick<KeyRows, 'insert' | 'change' | 'remove' | 'replace'> {
  const read = database.prepare<[string], Row>(`SELECT ${columns} FROM keys WHERE id = ?`);
  const insert = database.prepare(
    `INSERT INTO keys (hash, ${columns}) VALUES (:hash, :id, :label, :enabled, :allowance, :created, :last_used, :notes)`,
  );
  const update = database.prepare(
    'UPDATE keys SET label = :label, enabled = :enabled, allowance = :allowance, notes = :notes WHERE id = :id',
  );
  const remove = database.prepare('DELETE FROM keys WHERE id = ?');
  const add = (record: KeyRecord, hash: string) => void insert.run({ ...toRow(record), hash });
  return {
    insert: createTransaction(database, add),
    change: createTransaction(database, (id: string, changes: KeyChanges) => {
      const row = read.get(id);
      if (row === undefined) return undefined;
      const changed = withChanges(toRecord(row), changes);
      const { created: _created, last_used: _lastUsed, ...set } = toRow(changed);
      update.run(set);
      return changed;
    }),
    remove: createTransaction(database, (id: string) => remove.run(id).changes > 0),
    replace: createTransaction(database, (id: string, { hash, ...fresh }: Replacement) => {
      const row = read.get(id);
      if (row === undefined) return undefined;
      const replaced = { ...toRecord(row), ...fresh, lastUsedMs: null };
      remove.run(id);
      add(replaced, hash);
      return replaced;
    }),
  };
}

/**
 * Makes a change one transaction. Single statements are wrapped too: the driver throws what COMMIT
 * answers, but not what a statement's own end does.
 */
function createTransaction<Args extends unknown[], Result>(
  database: SqliteDatabase,
  change: (...args: Args) => Result,
): (...args: Args) => Result {
  return database.transaction(change).immediate;
}

function withChanges(record: KeyRecord, changes: KeyChanges): KeyRecord {
  const { label = record.label, enabled = record.enabled } = changes;
  const { allowance = record.allowance, notes = record.notes } = changes;
  return { ...record, label, enabled, allowance, notes };
}

function toRecord({ created, last_used, enabled, ...row }: Row): KeyRecord {
  return { ...row, enabled: enabled !== 0, createdMs: created, lastUsedMs: last_used };
}

function toRow({ createdMs, lastUsedMs, enabled, ...record }: KeyRecord): Row {
  return { ...record, enabled: enabled ? 1 : 0, created: createdMs, last_used: lastUsedMs };
}
