import { trimEndOf } from '../../../core/trim-end.ts';
/** Everything in a tar file is padded to blocks of this many bytes. */
export const tarBlock = 512;

/** What stands before a file in a tar file. */
export interface TarHeader {
  readonly name: string;
  readonly bytes: number;
  /** `0` or NUL is a file, `x` what is told of the next one, `L` its long name. */
  readonly type: string;
}

/**
 * Reads a header of a tar file: `name` 100, `mode` 8, `uid` 8, `gid` 8, `size` 12, `mtime` 12,
 * `chksum` 8, `typeflag` 1, … and from 257 `magic` 6, then from 345 `prefix` 155. Numbers are octal
 * digits. Null where the sum of its bytes is not what it says, so also for the zeros at the end.
 *
 * Source: POSIX.1-2017, pax, "ustar Interchange Format"
 */
export function readTarHeader(block: Buffer): TarHeader | null {
  const sum = readOctal(block, 148, 8);
  if (sum === null || sum !== sumOf(block)) return null;
  const bytes = readOctal(block, 124, 12);
  if (bytes === null) return null;
  const isUstar = block.toString('latin1', 257, 262) === 'ustar';
  const prefix = isUstar ? readText(block, 345, 155) : '';
  const name = readText(block, 0, 100);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    bytes,
    type: block.toString('latin1', 156, 157),
  };
}

/** Reads the records `length name=value\n` of a pax header. Its `size` and `path` count for the next file. */
export function readPax(bytes: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.toString('latin1', at, Math.max(space, at)));
    if (!Number.isSafeInteger(length) || length < 5) break;
    const [name = '', ...value] = bytes.toString('utf8', space + 1, at + length - 1).split('=');
    records.set(name, value.join('='));
    at += length;
  }
  return records;
}

/** The field of the sum itself counts as spaces. */
function sumOf(block: Buffer): number {
  const field = block.subarray(148, 156).reduce((sum, byte) => sum + byte, 0);
  return block.reduce((sum, byte) => sum + byte, 0) - field + 8 * 0x20;
}

function readOctal(block: Buffer, from: number, length: number): number | null {
  const field = block.toString('latin1', from, from + length);
  const text = trimEndOf(field, '\0 ').trimStart();
  return /^[0-7]{1,12}$/.test(text) ? Number.parseInt(text, 8) : null;
}

function readText(block: Buffer, from: number, length: number): string {
  const field = block.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}
