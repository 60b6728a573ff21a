import { trimEndOf } from '../../../core/trim-end.ts';
import { type ExportFile, readWhole } from './export-files.ts';

/** A file in a tar file, while the walk stands at it. `content` ends early if the tar file does. */
interface TarEntry extends ExportFile {
  readonly content: AsyncIterable<Uint8Array>;
}

/** Everything in a tar file is padded to blocks of this many bytes. */
const blockBytes = 512;

/** Headers for the next file are short; what is longer is passed over. */
const maxExtension = 64 * 1024;

/** Files beyond this many are not listed. */
const maxEntries = 1_000_000;

/** Reads a tar file from its start to its end, or to where it makes no sense any more. */
export async function* walkTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const iterator = chunks[Symbol.asyncIterator]();
  const take = createTaker(iterator);
  let told: Told = new Map();
  try {
    for (let count = 0; count < maxEntries; count++) {
      const header = readHeader(await readWhole(take(blockBytes)));
      if (header === null) return;
      const bytes = sizeOf(header, told);
      const content = take(bytes);
      if (header.type === '0' || header.type === '\0') {
        const name = (told.get('path') ?? header.name).replace(/^\.\//, '');
        yield { name, bytes, content };
      }
      told = await readTold(header, content);
      await skip(content);
      await skip(take((blockBytes - (bytes % blockBytes)) % blockBytes));
    }
  } finally {
    await iterator.return?.();
  }
}

/** Creates a function that yields the next bytes, at most so many, in the pieces that they come in. */
function createTaker(chunks: AsyncIterator<Uint8Array>) {
  let rest: Uint8Array = new Uint8Array();
  const hasRest = async (): Promise<boolean> => {
    while (rest.length === 0) {
      const next = await chunks.next();
      if (next.done === true) return false;
      rest = next.value;
    }
    return true;
  };
  return async function* (length: number): AsyncGenerator<Uint8Array, void, undefined> {
    for (let left = length; left > 0 && (await hasRest()); ) {
      const some = rest.subarray(0, left);
      rest = rest.subarray(some.length);
      left -= some.length;
      yield some;
    }
  };
}

async function skip(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _piece of pieces);
}

/** `type`: `0` or NUL is a file, `x` what is told of the next one, `L` its long name. */
interface Header {
  readonly name: string;
  readonly bytes: number;
  readonly type: string;
}

/**
 * Reads a header: `name` 100, `mode` 8, `uid` 8, `gid` 8, `size` 12, `mtime` 12, `chksum` 8, `typeflag` 1, … and from
 * 257 `magic` 6, then from 345 `prefix` 155. Numbers are octal digits. Null if the sum of its bytes is not what it
 * says, so also for the zeros at the end. Source: POSIX.1-2017, pax, "ustar Interchange Format"
 */
function readHeader(block: Buffer): Header | null {
  const [sum, bytes] = [readOctal(block, 148, 8), readOctal(block, 124, 12)];
  if (block.length < blockBytes || sum !== sumOf(block) || bytes === null) return null;
  const isUstar = block.toString('latin1', 257, 262) === 'ustar';
  const folders = isUstar ? [readText(block, 345, 155)].filter((prefix) => prefix !== '') : [];
  const name = [...folders, readText(block, 0, 100)].join('/');
  return { name, bytes, type: block.toString('latin1', 156, 157) };
}

/** The field of the sum itself counts as spaces. */
function sumOf(block: Buffer): number {
  const add = (sum: number, byte: number) => sum + byte;
  return block.reduce(add, 0) - block.subarray(148, 156).reduce(add, 0) + 8 * 0x20;
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

/** What headers before a file's own tell of it. */
type Told = ReadonlyMap<string, string>;

/** The size in a pax header is that of the next file, not of another header before it. */
function sizeOf({ bytes, type }: Header, told: Told): number {
  if (isExtension(type)) return bytes;
  const size = Number(told.get('size') ?? bytes);
  return Number.isSafeInteger(size) && size >= 0 ? size : 0;
}

const isExtension = (type: string): boolean => type === 'x' || type === 'L';

async function readTold(
  { type, bytes }: Header,
  content: AsyncIterable<Uint8Array>,
): Promise<Told> {
  if (!isExtension(type) || bytes > maxExtension) return new Map();
  const text = await readWhole(content);
  return type === 'x' ? readPax(text) : new Map([['path', readText(text, 0, text.length)]]);
}

/** Reads the records `length name=value\n` of a pax header. Its `size` and `path` count for the next file. */
function readPax(bytes: Buffer): Told {
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
