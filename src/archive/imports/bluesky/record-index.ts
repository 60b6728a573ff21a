import { CID } from 'multiformats/cid';
import type { connectSqlite } from '../../../core/files/sqlite.ts';
import type { Leaf } from './tree.ts';

export type IndexedRecord = Pick<Leaf, 'path' | 'cid'>;

const maxCollections = 100;

export function createRecordIndex(database: ReturnType<typeof connectSqlite>) {
  database.exec('CREATE TABLE records (path TEXT PRIMARY KEY, cid BLOB NOT NULL) WITHOUT ROWID;');
  const add = database.prepare('INSERT INTO records VALUES (?, ?)');
  const find = database.prepare<[string], { readonly cid: Uint8Array }>(
    'SELECT cid FROM records WHERE path = ?',
  );
  const list = database.prepare<
    [after: string, end: string, count: number],
    { readonly path: string; readonly cid: Uint8Array }
  >('SELECT path, cid FROM records WHERE path > ? AND path < ? ORDER BY path LIMIT ?');
  const count = database.prepare<[number], { readonly collection: string; readonly count: number }>(
    `SELECT substr(path, 1, instr(path, '/') - 1) AS collection, COUNT(*) AS count
     FROM records GROUP BY collection ORDER BY collection LIMIT ?`,
  );
  return {
    /** Adds a record, whose path must not be in the index yet. */
    add: ({ path, cid }: IndexedRecord) => void add.run(path, cid.bytes),
    find: (path: string): CID | null => {
      const row = find.get(path);
      return row === undefined ? null : CID.decode(row.cid);
    },
    /** Returns up to `limit` records of a collection after the path `after`, sorted by path. */
    list: (collection: string, after: string, limit: number): readonly IndexedRecord[] => {
      // The character `0` follows `/`, so `collection0` is after all paths of the collection.
      const rows = list.all(after, `${collection}0`, limit);
      return rows.map(({ path, cid }) => ({ path, cid: CID.decode(cid) }));
    },
    count: () => count.all(maxCollections),
  };
}
