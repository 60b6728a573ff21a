import { createHash } from 'node:crypto';
import type { CID } from 'multiformats/cid';
import type { BlockIndex } from './block-index.ts';
import { tryDecode } from './car.ts';
import type { FileWindow } from './file-window.ts';

/** A block that was read and is what its CID says, or why there is none. */
export type ReadBlock =
  | { readonly state: 'read'; readonly value: unknown }
  | { readonly state: 'fault'; readonly why: string };

/** The blocks of a repository. */
export interface Blocks {
  read(cid: CID): ReadBlock;
  /** Reads a block of which one reading is wanted: a second one is a fault. */
  readOnce(cid: CID): ReadBlock;
}

/** SHA-256 in the table of multihashes, and DAG-CBOR in that of codecs: a repository has no others. */
const codes = { sha256: 0x12, dagCbor: 0x71 } as const;

/** Creates what reads the blocks of a file by an index of them; `count` is told how many bytes. */
export function createBlocks(
  file: FileWindow,
  index: BlockIndex,
  count: (bytes: number) => void,
): Blocks {
  const read = (cid: CID): ReadBlock => {
    if (cid.code !== codes.dagCbor || cid.multihash.code !== codes.sha256) {
      return toFault('Its address is of a kind that repositories do not have.');
    }
    const place = index.find(cid.bytes);
    if (place === undefined) return toFault('It is not in the file.');
    const bytes = file.read(place.offset, place.length);
    count(bytes.length);
    if (!isHashOf(cid, bytes))
      return toFault('Its bytes are not those that its address stands for.');
    const value = tryDecode(bytes);
    return value === undefined ? toFault('It is no DAG-CBOR.') : { state: 'read', value };
  };
  return {
    read,
    readOnce: (cid) =>
      index.mark(cid.bytes) ? read(cid) : toFault('The tree leads to it a second time.'),
  };
}

function toFault(why: string): ReadBlock {
  return { state: 'fault', why };
}

function isHashOf(cid: CID, bytes: Uint8Array): boolean {
  return createHash('sha256').update(bytes).digest().equals(cid.multihash.digest);
}
