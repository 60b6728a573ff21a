import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { decode } from '@ipld/dag-cbor';
import { CID } from 'multiformats/cid';
import * as z from 'zod';
import { connectSqlite } from '../../../lib/files/sqlite.ts';
import { isDecompressionBomb } from '../export-source.ts';

/** Record of the tree. Its path is like `app.bsky.feed.post/3kabc`. */
export interface RecordRef {
  readonly path: string;
  readonly cid: CID;
}

export type Blocks = ReturnType<typeof openBlocks>;

const codes = { sha256: 0x12, dagCbor: 0x71 } as const;

/** Creates a temporary SQLite index of a CAR file's blocks and records. Close it with `close()`. */
export function openBlocks(file: RandomAccessFile) {
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
  let [bytesIndexed, bytesRead] = [0, 0];
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
    add: ({ cid, offset, length }: BlockPosition): void => {
      add.run(cid, offset, length);
      bytesIndexed = offset + length;
    },
    /** Returns whether this is the first visit of a CID. */
    markVisited: (cid: CID) => visit.run(cid.bytes).changes === 1,
    /** Parses a block. Returns a message on failure: `fault` if it does not match `schema`. */
    read: <Value extends object>(cid: CID, schema: z.ZodType<Value>, fault: string) => {
      const bytes = readBytes(cid);
      if (typeof bytes === 'string') return bytes;
      const value = tryDecode(bytes);
      return value === undefined ? 'It is not DAG-CBOR.' : (schema.safeParse(value).data ?? fault);
    },
    get bytesIndexed() {
      return bytesIndexed;
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

/** Open file with random access. Close it with `close()`. */
export type RandomAccessFile = ReturnType<typeof openRandomAccess>;

/** Opens a file for synchronous reads, which are faster. @throws Error if opening fails */
export function openRandomAccess(path: string) {
  const file = openSync(path, 'r');
  return {
    size: fstatSync(file).size,
    /** Returns `length` bytes from byte `offset`; fewer at the end of the file. */
    read: (offset: number, length: number): Uint8Array => {
      const buffer = Buffer.allocUnsafe(length);
      return buffer.subarray(0, readSync(file, buffer, 0, length, offset));
    },
    close: () => closeSync(file),
  };
}

/**
 * Format of CAR files, version 1: `varint(length) header`, then `varint(length) CID bytes` for each
 * block, in any order. The second length includes the CID. The header is DAG-CBOR: `{ roots: [CID],
 * version: 1 }`. Source: https://ipld.io/specs/transport/car/carv1/,
 * https://atproto.com/specs/repository and https://atproto.com/specs/sync
 */

/** Maximum sizes in bytes. `block` is about twice the AT Protocol's record limit of 1 MB. */
const limits = { block: 2 * 1024 * 1024, header: 64 * 1024, cid: 128, varint: 8 } as const;

interface BlockPosition {
  readonly cid: Uint8Array;
  readonly offset: number;
  readonly length: number;
}

/** Header of a CAR file: CID of the commit (`root`), byte offset of the first block (`end`). */
export interface CarHeader {
  readonly root: CID;
  readonly end: number;
}

export const link = z.custom<CID>((value) => CID.asCID(value) !== null);

const header = z.object({ roots: z.array(link).default([]), version: z.number() });

/** Returns `null` for files that are not CAR. @throws Error for a wrong version or missing root */
export function readCarHeader(file: RandomAccessFile): CarHeader | null {
  const length = readVarint(file.read(0, limits.varint));
  if (length === null || length.value > limits.header) return null;
  const parsed = header.safeParse(tryDecode(file.read(length.bytes, length.value)));
  if (!parsed.success) return null;
  const { roots, version } = parsed.data;
  if (version !== 1)
    throw new Error(`This CAR file has version ${version}. Only version 1 is read.`);
  const [root] = roots;
  if (root === undefined) throw new Error('This CAR file has no root, so it is not a repository.');
  return { root, end: length.bytes + length.value };
}

/** Yields the positions of blocks, except oversized ones. Ends with a message on invalid data. */
export function* listBlocks(
  file: RandomAccessFile,
  from: number,
): Generator<BlockPosition | string> {
  for (let at = from; at < file.size; ) {
    const block = readBlockPosition(file, at);
    if (typeof block === 'string' || block.length <= limits.block) yield block;
    if (typeof block === 'string') return;
    at = block.offset + block.length;
  }
}

function readBlockPosition(file: RandomAccessFile, at: number): BlockPosition | string {
  const bytes = file.read(at, limits.varint + limits.cid);
  const length = readVarint(bytes);
  if (length === null) return `The file is invalid from byte ${at}.`;
  const end = at + length.bytes + length.value;
  if (end > file.size) return `The file ends within the block at byte ${at}.`;
  const cid = readCid(bytes.subarray(length.bytes, length.bytes + length.value));
  if (cid === null) return `The file is invalid from byte ${at}.`;
  const offset = at + length.bytes + cid.length;
  return { cid, offset, length: end - offset };
}

function tryDecode(bytes: Uint8Array): unknown {
  try {
    return decode(bytes);
  } catch {
    return undefined; // invalid, not canonical, or nested too deeply
  }
}

function readCid(bytes: Uint8Array): Uint8Array | null {
  try {
    const { size } = CID.inspectBytes(bytes);
    return size <= bytes.length ? bytes.subarray(0, size) : null;
  } catch {
    return null; // not a CID of any version
  }
}

function readVarint(bytes: Uint8Array): { readonly value: number; readonly bytes: number } | null {
  let value = 0;
  for (let index = 0; index < limits.varint; index++) {
    const byte = bytes[index];
    if (byte === undefined) return null;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return Number.isSafeInteger(value) ? { value, bytes: index + 1 } : null;
  }
  return null;
}

/**
 * Node of a Merkle search tree (https://atproto.com/specs/repository#mst-structure). Each entry in
 * `e` links to a record (`v`). Its key is the first `p` bytes of the previous key, followed by `k`.
 * `l` links to the child node before the first entry, `t` to the one after the entry.
 */
const node = z.object({
  l: link.nullable(),
  e: z.array(
    z.object({
      p: z.number().int().min(0),
      k: z.instanceof(Uint8Array),
      v: link,
      t: link.nullable(),
    }),
  ),
});

/** Unreadable part of the tree. `after`: path of the record before it; `null` at the start. */
interface TreeFault {
  readonly after: string | null;
  readonly reason: string;
}

const maxDepth = 128; // a tree of a million million records has about twenty levels

/** Yields records and unreadable parts in key order. Reads each node only once, even in a cycle. */
export function* walkTree(blocks: Blocks, root: CID): Generator<RecordRef | TreeFault> {
  let last: string | null = null;
  for (const found of walkNode(blocks, root, 1)) {
    if (typeof found === 'string') {
      yield { after: last, reason: found };
    } else if (last !== null && found.path <= last) {
      yield { after: last, reason: `${found.path} is out of order.` };
    } else {
      last = found.path;
      yield found;
    }
  }
}

function* walkNode(blocks: Blocks, cid: CID, depth: number): Generator<RecordRef | string> {
  const steps = depth > maxDepth ? 'The tree is too deep.' : readNode(blocks, cid);
  if (typeof steps === 'string') {
    yield steps;
    return;
  }
  for (const step of steps) {
    if (step === null) continue;
    if ('path' in step) yield step;
    else yield* walkNode(blocks, step, depth + 1);
  }
}

const notANode = 'It is not a tree node.';

/** Returns the records and child nodes of a node, or why it is unreadable. */
function readNode(blocks: Blocks, cid: CID): readonly (RecordRef | CID | null)[] | string {
  if (!blocks.markVisited(cid)) return 'The tree refers to this node twice.';
  const read = blocks.read(cid, node, notANode);
  if (typeof read === 'string') return read;
  const steps: (RecordRef | CID | null)[] = [read.l];
  let key: Uint8Array = new Uint8Array();
  for (const { p, k, v, t } of read.e) {
    if (p > key.length) return notANode;
    key = Buffer.concat([key.subarray(0, p), k]);
    const path = readPath(key);
    if (path === null) return 'It has an invalid key.';
    steps.push({ path, cid: v }, t);
  }
  return steps;
}

function readPath(key: Uint8Array): string | null {
  if (key.length > 1024) return null;
  const path = Buffer.from(key).toString('latin1');
  return /^[A-Za-z0-9.-]{1,317}\/[A-Za-z0-9._:~-]{1,512}$/.test(path) ? path : null;
}
