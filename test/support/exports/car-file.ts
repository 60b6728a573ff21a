import { createHash } from 'node:crypto';
import { encode } from '@ipld/dag-cbor';
import { CID } from 'multiformats/cid';
import { create as createDigest } from 'multiformats/hashes/digest';

/** Block of a CAR file. */
export interface Block {
  readonly cid: CID;
  readonly bytes: Uint8Array;
}

/** Repository as separate blocks, so that tests can omit, swap or damage them. */
export interface BuiltRepository {
  readonly commit: Block;
  /** Nodes in depth-first order, the root first. */
  readonly nodes: readonly Block[];
  /** Blocks of records by path: `app.bsky.feed.post/3k…`. */
  readonly records: ReadonlyMap<string, Block>;
}

/** Returns a value as a DAG-CBOR block with its CID. */
export function toBlock(value: unknown): Block {
  return addressBytes(encode(value));
}

/** Returns bytes as a block with their CID, even if they are not valid DAG-CBOR. */
export function addressBytes(bytes: Uint8Array): Block {
  return { cid: CID.create(1, 0x71, createDigest(0x12, sha256(bytes))), bytes };
}

/** Returns the CID of a file outside the repository, such as an image. */
export function toFileCid(content: string): CID {
  return CID.create(1, 0x55, createDigest(0x12, sha256(Buffer.from(content))));
}

/** Builds the repository of an account: commit, Merkle search tree and records (https://atproto.com/specs/repository). */
export function buildRepository(
  did: string,
  records: Readonly<Record<string, unknown>>,
): BuiltRepository {
  const blocks = new Map(Object.entries(records).map(([path, value]) => [path, toBlock(value)]));
  const nodes: Block[] = [];
  const root = buildTree(blocks, nodes);
  const commit = toBlock({
    did,
    version: 3,
    data: root.cid,
    rev: '3kaaaaaaaaa22',
    prev: null,
    sig: new Uint8Array(64),
  });
  return { commit, nodes: nodes.reverse(), records: blocks };
}

function buildTree(blocks: ReadonlyMap<string, Block>, nodes: Block[]): Block {
  const keys = [...blocks.keys()].sort();
  const leaves = keys.map((key) => ({ key, depth: depthOf(key), cid: cidOf(blocks, key) }));
  return buildNode(leaves, { depth: Math.max(0, ...leaves.map(({ depth }) => depth)), nodes });
}

interface TreeLeaf {
  readonly key: string;
  readonly depth: number;
  readonly cid: CID;
}

interface TreeLevel {
  readonly depth: number;
  readonly nodes: Block[];
}

function buildNode(leaves: readonly TreeLeaf[], { depth, nodes }: TreeLevel): Block {
  const below = (some: readonly TreeLeaf[]) =>
    some.length === 0 ? null : buildNode(some, { depth: depth - 1, nodes }).cid;
  const own = leaves.flatMap((leaf, index) => (leaf.depth === depth ? [index] : []));
  const entries = own.map((at, index) => {
    const { key, cid } = leaves[at] as TreeLeaf; // `own` contains indices of `leaves`
    const before = index === 0 ? '' : (leaves[own[index - 1] ?? 0]?.key ?? '');
    const shared = sharedLength(before, key);
    const rest = leaves.slice(at + 1, own[index + 1] ?? leaves.length);
    return { p: shared, k: Buffer.from(key.slice(shared)), v: cid, t: below(rest) };
  });
  const block = toBlock({ l: below(leaves.slice(0, own[0] ?? leaves.length)), e: entries });
  nodes.push(block);
  return block;
}

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** Returns the layer of a key: the number of leading pairs of zero bits in its SHA-256. */
function depthOf(key: string): number {
  const bits = [...sha256(Buffer.from(key)).subarray(0, 8)]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  return Math.floor(bits.indexOf('1') / 2);
}

function cidOf(blocks: ReadonlyMap<string, Block>, key: string): CID {
  const block = blocks.get(key);
  if (block === undefined) throw new Error(`There is no record ${key}.`);
  return block.cid;
}

/** Returns a CAR file (version 1) with blocks in the given order. */
export function writeCar(root: CID, blocks: Iterable<Block>): Buffer {
  const parts: Uint8Array[] = [frame(encode({ roots: [root], version: 1 }))];
  for (const { cid, bytes } of blocks) parts.push(frame(cid.bytes, bytes));
  return Buffer.concat(parts);
}

/** Returns all blocks of a repository: the commit, the tree nodes and the records. */
export function blocksOf({ commit, nodes, records }: BuiltRepository): readonly Block[] {
  return [commit, ...nodes, ...records.values()];
}

/** Returns the CAR file of a repository. */
export function writeRepository(did: string, records: Readonly<Record<string, unknown>>): Buffer {
  const built = buildRepository(did, records);
  return writeCar(built.commit.cid, blocksOf(built));
}

/** Prefixes bytes with their length. */
export function frame(...parts: readonly Uint8Array[]): Buffer {
  let length = parts.reduce((sum, part) => sum + part.length, 0);
  const prefix: number[] = [];
  do {
    prefix.push((length % 128) + (length >= 128 ? 128 : 0));
    length = Math.floor(length / 128);
  } while (length > 0);
  return Buffer.concat([Buffer.from(prefix), ...parts]);
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
