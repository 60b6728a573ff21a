import { createHash } from 'node:crypto';
import { CID } from 'multiformats/cid';
import type { z } from 'zod';
import { connectSqlite } from '../../../core/files/sqlite.ts';
import { isDecompressionBomb } from '../files/export-files.ts';
import { type BlockPosition, type FileWindow, tryDecode } from './car.ts';
import type { Leaf } from './tree.ts';

/** Record of the tree. Its path is like `app.bsky.feed.post/3kabc`. */
export type RecordRef = Pick<Leaf, 'path' | 'cid'>;

export type Blocks = ReturnType<typeof openBlocks>;

const codes = { sha256: 0x12, dagCbor: 0x71 } as const;

/** Creates a temporary SQLite index of a CAR file's blocks and records. Close it with `close()`. */
export function openBlocks(file: FileWindow) {
  const database = connectSqlite({ path: '' });
  database.exec(`
    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8000;
    CREATE TABLE blocks (
      cid BLOB PRIMARY KEY, offset INTEGER NOT NULL, length INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE visited (cid BLOB PRIMARY KEY) WITHOUT ROWID;
    BEGIN;
  `);
  const add = database.prepare('INSERT OR IGNORE INTO blocks VALUES (?, ?, ?)');
  const visit = database.prepare('INSERT OR IGNORE INTO visited VALUES (?)');
  const find = database.prepare<[Uint8Array], Pick<BlockPosition, 'offset' | 'length'>>(
    'SELECT offset, length FROM blocks WHERE cid = ?',
  );
  let bytesRead = 0;
  const readBytes = (cid: CID): Uint8Array | string => {
    if (cid.code !== codes.dagCbor || cid.multihash.code !== codes.sha256) {
      return 'Its CID is of a kind that repositories do not use.';
    }
    const place = find.get(cid.bytes);
    if (place === undefined) return 'It is not in the file.';
    const bytes = file.read(place.offset, place.length);
    bytesRead += bytes.length;
    if (isDecompressionBomb(bytesRead, file.size)) {
      throw new Error('The repository refers to its blocks too often.');
    }
    const isOwn = createHash('sha256').update(bytes).digest().equals(cid.multihash.digest);
    return isOwn ? bytes : 'Its content does not match its CID.';
  };
  return {
    records: createRecordIndex(database),
    /** Adds a block, unless there is one with the same CID. */
    add: ({ cid, offset, length }: BlockPosition) => void add.run(cid, offset, length),
    /** Returns whether this is the first visit of a CID. */
    markVisited: (cid: CID) => visit.run(cid.bytes).changes === 1,
    /** Parses a block. Returns a message on failure: `fault` if it does not match `schema`. */
    read: <Value extends object>(cid: CID, schema: z.ZodType<Value>, fault: string) => {
      const bytes = readBytes(cid);
      if (typeof bytes === 'string') return bytes;
      const value = tryDecode(bytes);
      return value === undefined ? 'It is not DAG-CBOR.' : (schema.safeParse(value).data ?? fault);
    },
    get bytesRead() {
      return bytesRead;
    },
    close: () => void database.close(),
  };
}

const maxCollections = 100;

function createRecordIndex(database: ReturnType<typeof connectSqlite>) {
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
    add: ({ path, cid }: RecordRef) => void add.run(path, cid.bytes),
    find: (path: string): CID | null => {
      const row = find.get(path);
      return row === undefined ? null : CID.decode(row.cid);
    },
    /** Returns up to `limit` records of a collection after the path `after`, sorted by path. */
    list: (collection: string, after: string, limit: number): readonly RecordRef[] => {
      // The character `0` follows `/`, so `collection0` is after all paths of the collection.
      const rows = list.all(after, `${collection}0`, limit);
      return rows.map(({ path, cid }) => ({ path, cid: CID.decode(cid) }));
    },
    count: () => count.all(maxCollections),
  };
}
