import { connectSqlite } from '../../../core/files/sqlite.ts';
import type { BlockPlace, BlockWalk, FoundBlock } from './car.ts';

/** Where the blocks of a file are, by the bytes of their CIDs. Close it with `close()`. */
export interface BlockIndex {
  /**
   * Takes up the next blocks of a walk, at most so many; the first of equal CIDs counts. Gives the last
   * of them, or null where the walk had ended.
   */
  fill(walk: BlockWalk, most: number): FoundBlock | null;
  find(cid: Uint8Array): BlockPlace | undefined;
  /** Tells whether this is the first time that a CID is marked. */
  mark(cid: Uint8Array): boolean;
  close(): void;
}

/**
 * Opens an index of blocks. It is a nameless database of SQLite's: kept in memory as far as its small
 * cache reaches, else in a file without a name, which goes with the process however that ends.
 */
export function openBlockIndex(): BlockIndex {
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
  const find = database.prepare<[Uint8Array], BlockPlace>(
    'SELECT offset, length FROM blocks WHERE cid = ?',
  );
  const fill = (walk: BlockWalk, most: number): FoundBlock | null => {
    let last: FoundBlock | null = null;
    for (let count = 0; count < most; count++) {
      const block = walk.next();
      if (block === null) break;
      add.run(block.cid, block.offset, block.length);
      last = block;
    }
    return last;
  };
  return {
    fill,
    find: (cid) => find.get(cid),
    mark: (cid) => mark.run(cid).changes === 1,
    close: () => database.close(),
  };
}
