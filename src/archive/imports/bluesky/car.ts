import { decode } from '@ipld/dag-cbor';
import { CID } from 'multiformats/cid';
import { z } from 'zod';
import type { FileWindow } from './file-window.ts';

/**
 * A CAR file, version 1: `varint(length) header`, then any number of `varint(length) CID bytes`, where the length
 * counts CID and bytes. The header is DAG-CBOR: `{ roots: [CID], version: 1 }`. The blocks stand in no promised order.
 * Source: https://ipld.io/specs/transport/car/carv1/ and https://atproto.com/specs/repository
 */

/** The most bytes that are read of each. Records have at most 1 MiB by the spec. */
const limits = { block: 2 * 1024 * 1024, header: 64 * 1024, cid: 128, varint: 8 } as const;

/** The bytes of a block's CID, and the place of its own. */
export interface FoundBlock {
  readonly cid: Uint8Array;
  readonly offset: number;
  readonly length: number;
}

/** What stands before the blocks: the commit, and where the first block begins. */
export interface CarHeader {
  readonly root: CID;
  readonly end: number;
}

export const link = z.custom<CID>((value) => CID.asCID(value) !== null);

const header = z.object({ roots: z.array(link).default([]), version: z.number() });

/**
 * Reads the header; null where the file does not begin as a CAR file does.
 * @throws Error with a sentence where it is one of another version, or has no root
 */
export function readCarHeader(file: FileWindow): CarHeader | null {
  const length = readVarint(file.read(0, limits.varint));
  if (length === null || length.value > limits.header) return null;
  const parsed = header.safeParse(tryDecode(file.read(length.bytes, length.value)));
  if (!parsed.success) return null;
  const { roots, version } = parsed.data;
  if (version !== 1) throw new Error(`This is a CAR file of version ${version}; only 1 is read.`);
  const [root] = roots;
  if (root === undefined) throw new Error('This CAR file names no root, so it is no repository.');
  return { root, end: length.bytes + length.value };
}

/**
 * Yields the blocks that are not larger than a record can be, in the order of the file and without reading them. The
 * last is a sentence if the file makes no sense any more there.
 */
export function* walkBlocks(file: FileWindow, from: number): Generator<FoundBlock | string> {
  for (let at = from; at < file.size; ) {
    const block = readPlace(file, at);
    if (typeof block === 'string' || block.length <= limits.block) yield block;
    if (typeof block === 'string') return;
    at = block.offset + block.length;
  }
}

/** Reads where the block at a place is, or says why there is none. */
function readPlace(file: FileWindow, at: number): FoundBlock | string {
  const bytes = file.read(at, limits.varint + limits.cid);
  const length = readVarint(bytes);
  if (length === null) return `The file makes no sense from byte ${at} on.`;
  const end = at + length.bytes + length.value;
  if (end > file.size) return `The file ends within the block at byte ${at}.`;
  const cid = readCid(bytes.subarray(length.bytes, length.bytes + length.value));
  if (cid === null) return `The file makes no sense from byte ${at} on.`;
  const offset = at + length.bytes + cid.length;
  return { cid, offset, length: end - offset };
}

/** Decodes DAG-CBOR; undefined where it is none. */
export function tryDecode(bytes: Uint8Array): unknown {
  try {
    return decode(bytes);
  } catch {
    return undefined; // broken, not canonical, or nested without end: no value in any case
  }
}

/** Gives the bytes of the CID that some bytes begin with; null where they begin with none. */
function readCid(bytes: Uint8Array): Uint8Array | null {
  try {
    const { size } = CID.inspectBytes(bytes);
    return size <= bytes.length ? bytes.subarray(0, size) : null;
  } catch {
    return null; // no version of CID begins like this
  }
}

/** Reads an unsigned LEB128 number and how many bytes it takes; null where there is none. */
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
