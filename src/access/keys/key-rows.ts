import type { Migration, SqliteDatabase } from '../../lib/files/sqlite.ts';
import { type KeyRecord, type StoredKey, toLastUse } from './key-record.ts';

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

/** Prepared statements for the table of API keys. Changes are on disk when a method returns. */
export type KeyRows = ReturnType<typeof openKeyRows>;

type Row = Omit<KeyRecord, 'enabled'> & { readonly enabled: number };

type StoredRow = Row & { readonly hash: string };

/** Fields of an enabled API key that are needed to serve a request. */
export type FoundKey = Pick<KeyRecord, 'id' | 'allowance'>;

const columns =
  'id, label, enabled, allowance, created AS createdMs, last_used AS lastUsedMs, notes';

/** Prepares the statements for the table of API keys. The table must already exist. */
export function openKeyRows(database: SqliteDatabase) {
  const find = database.prepare<[string], FoundKey>(
    'SELECT id, allowance FROM keys WHERE hash = ? AND enabled',
  );
  const list = database.prepare<[], Row>(`SELECT ${columns} FROM keys ORDER BY created, id`);
  const dump = database.prepare<[], StoredRow>(
    `SELECT hash, ${columns} FROM keys ORDER BY created, id`,
  );
  const insert = database.prepare(
    'INSERT INTO keys VALUES (:hash, :id, :label, :enabled, :allowance, :createdMs, :lastUsedMs, :notes)',
  );
  const read = database.prepare<[string], StoredRow>(
    `SELECT hash, ${columns} FROM keys WHERE id = ?`,
  );
  const update = database.prepare(
    `UPDATE keys SET hash = :hash, id = :id, label = :label, enabled = :enabled,
      allowance = :allowance, created = :createdMs, last_used = :lastUsedMs, notes = :notes
      WHERE id = :oldId`,
  );
  const remove = database.prepare('DELETE FROM keys WHERE id = ?');
  const noteUse = database.prepare(
    'UPDATE keys SET last_used = :at WHERE id = :id AND ifnull(last_used, -1) < :at',
  );
  // The transactions are explicit, because the driver does not throw errors of implicit COMMITs.
  const inTransaction = <Args extends unknown[], Result>(change: (...args: Args) => Result) =>
    database.transaction(change).immediate;
  return {
    find: (hash: string) => find.get(hash),
    list: () => list.all().map(toRecord),
    dump: (): readonly StoredKey[] => dump.all().map(toStored),
    insert: inTransaction((key: StoredKey) => {
      insert.run(toRow(key));
    }),
    remove: inTransaction((id: string) => remove.run(id).changes > 0),
    /** Stores the result of `decide`. Returns its record; `undefined` if no key has this id. */
    replace: inTransaction((oldId: string, decide: (key: StoredKey) => StoredKey) => {
      const row = read.get(oldId);
      if (row === undefined) return undefined;
      const key = decide(toStored(row));
      update.run({ ...toRow(key), oldId });
      return key.record;
    }),
    /** Stores last uses (Unix ms by key id). Skips deleted keys and times before the stored one. */
    noteUses: inTransaction((uses: ReadonlyMap<string, number>) => {
      for (const [id, at] of uses) noteUse.run({ id, at });
    }),
  };
}

function toRecord(row: Row): KeyRecord {
  const lastUsedMs = toLastUse(row.lastUsedMs, row.createdMs);
  return { ...row, enabled: row.enabled !== 0, lastUsedMs };
}

const toStored = ({ hash, ...row }: StoredRow): StoredKey => ({ hash, record: toRecord(row) });

const toRow = ({ hash, record }: StoredKey): StoredRow => {
  return { ...record, enabled: Number(record.enabled), hash };
};
