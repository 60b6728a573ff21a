import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { decode } from '@ipld/dag-cbor';
import { CID } from 'multiformats/cid';
import { z } from 'zod';

/** Open file with random access. Close it with `close()`. */
export type FileWindow = ReturnType<typeof openFileWindow>;

/** Size in bytes of the read-ahead buffer. Consecutive reads usually request neighboring blocks. */
const windowBytes = 32 * 1024;

/** Opens a file for synchronous reads, which are faster. @throws Error if opening fails */
export function openFileWindow(path: string) {
  const file = openSync(path, 'r');
  const { size } = fstatSync(file);
  const window = new Uint8Array(windowBytes);
  let from = 0;
  let valid = 0;
  const fill = (buffer: Uint8Array, offset: number): number => {
    let filled = 0;
    let count = -1;
    while (filled < buffer.length && count !== 0) {
      count = readSync(file, buffer, filled, buffer.length - filled, offset + filled);
      filled += count;
    }
    return filled;
  };
  return {
    size,
    /** Returns a copy of `length` bytes from byte `offset`; fewer at the end of the file. */
    read: (offset: number, length: number): Uint8Array => {
      if (length > windowBytes) {
        const own = new Uint8Array(length);
        return own.subarray(0, fill(own, offset));
      }
      if (offset < from || offset + length > from + valid) {
        from = offset;
        valid = fill(window, offset);
      }
      return Buffer.from(window.subarray(offset - from, Math.min(offset - from + length, valid)));
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

/** CID of a block, and the byte offset and length of its content in the file. */
export interface BlockPosition {
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
export function readCarHeader(file: FileWindow): CarHeader | null {
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
export function* listBlocks(file: FileWindow, from: number): Generator<BlockPosition | string> {
  for (let at = from; at < file.size; ) {
    const block = readBlockPosition(file, at);
    if (typeof block === 'string' || block.length <= limits.block) yield block;
    if (typeof block === 'string') return;
    at = block.offset + block.length;
  }
}

function readBlockPosition(file: FileWindow, at: number): BlockPosition | string {
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

/** Decodes DAG-CBOR; returns `undefined` if the bytes are invalid. */
export function tryDecode(bytes: Uint8Array): unknown {
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
