import { createHash } from 'node:crypto';
import type { CID } from 'multiformats/cid';
import type { z } from 'zod';
import { connectSqlite } from '../../../core/files/sqlite.ts';
import { type FoundBlock, tryDecode } from './car.ts';
import type { FileWindow } from './file-window.ts';

export type Blocks = ReturnType<typeof openBlocks>;

/** SHA-256 in the table of multihashes, and DAG-CBOR in that of codecs: a repository has no others. */
const codes = { sha256: 0x12, dagCbor: 0x71 } as const;

/**
 * Opens the blocks of a file; close them with `close()`. Their index is a nameless database of SQLite's, in memory as
 * far as its cache reaches, else in a file that goes with the process.
 */
export function openBlocks(file: FileWindow) {
  const database = connectSqlite({ path: '' });
  database.exec(`
    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8000;
    CREATE TABLE blocks (
      cid BLOB PRIMARY KEY, offset INTEGER NOT NULL, length INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE marks (cid BLOB PRIMARY KEY) WITHOUT ROWID;
    BEGIN;
  `);
  const add = database.prepare('INSERT OR IGNORE INTO blocks VALUES (?, ?, ?)');
  const mark = database.prepare('INSERT OR IGNORE INTO marks VALUES (?)');
  const find = database.prepare<[Uint8Array], Pick<FoundBlock, 'offset' | 'length'>>(
    'SELECT offset, length FROM blocks WHERE cid = ?',
  );
  let bytesRead = 0;
  const readBytes = (cid: CID): Uint8Array | string => {
    if (cid.code !== codes.dagCbor || cid.multihash.code !== codes.sha256) {
      return 'Its address is of a kind that repositories do not have.';
    }
    const place = find.get(cid.bytes);
    if (place === undefined) return 'It is not in the file.';
    const bytes = file.read(place.offset, place.length);
    bytesRead += bytes.length;
    const isOwn = createHash('sha256').update(bytes).digest().equals(cid.multihash.digest);
    return isOwn ? bytes : 'Its bytes are not those that its address stands for.';
  };
  return {
    /** Notes where a block is; the first of equal CIDs counts. */
    add: ({ cid, offset, length }: FoundBlock) => void add.run(cid, offset, length),
    /** Returns whether this is the first time that a CID is marked. */
    mark: (cid: CID) => mark.run(cid.bytes).changes === 1,
    /** Reads a block, or returns in a sentence why not: `misfit` if it does not have the schema. */
    read: <Value extends object>(cid: CID, schema: z.ZodType<Value>, misfit: string) => {
      const bytes = readBytes(cid);
      if (typeof bytes === 'string') return bytes;
      const value = tryDecode(bytes);
      return value === undefined ? 'It is no DAG-CBOR.' : (schema.safeParse(value).data ?? misfit);
    },
    get bytesRead() {
      return bytesRead;
    },
    close: () => void database.close(),
  };
}
