import { createHash } from 'node:crypto';
import type { CID } from 'multiformats/cid';
import type { z } from 'zod';
import { connectSqlite } from '../../../core/files/sqlite.ts';
import { isDecompressionBomb } from '../files/export-files.ts';
import { type BlockPosition, tryDecode } from './car.ts';
import type { FileWindow } from './file-window.ts';
import { createRecordIndex } from './record-index.ts';

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
