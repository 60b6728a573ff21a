import type { ExportFile } from './export-files.ts';
import { readPax, readTarHeader, type TarHeader, tarBlock } from './tar-header.ts';

/** A file in a tar file, while the walk stands at it. */
export interface TarEntry extends ExportFile {
  /** Reads it. It ends early where the tar file does. */
  content(): AsyncGenerator<Uint8Array, void, undefined>;
}

/** Headers for the next file are short; what is longer is passed over. */
const maxExtension = 64 * 1024;

/** Files beyond this many are not listed. */
const maxEntries = 1_000_000;

/** Reads a tar file from its start to its end, or to where it makes no sense any more. */
export async function* walkTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const iterator = chunks[Symbol.asyncIterator]();
  const reader = createByteReader(iterator);
  let told: Told = new Map();
  try {
    for (let count = 0; count < maxEntries; count++) {
      const header = readTarHeader((await reader.take(tarBlock)) ?? Buffer.alloc(tarBlock));
      if (header === null) return;
      const body = createBody(reader, sizeOf(header, told));
      const extension = await readExtension(header, body);
      if (extension === null && isFile(header)) yield toEntry(header, body, told);
      told = extension ?? new Map();
      await body.skip();
    }
  } finally {
    await iterator.return?.();
  }
}

/** What headers before a file's own tell of it. */
type Told = ReadonlyMap<string, string>;

function isFile({ type }: TarHeader): boolean {
  return type === '0' || type === '\0';
}

function sizeOf({ bytes }: TarHeader, told: Told): number {
  const size = Number(told.get('size') ?? bytes);
  return Number.isSafeInteger(size) && size >= 0 ? size : 0;
}

function toEntry({ name }: TarHeader, { bytes, read }: Body, told: Told): TarEntry {
  const path = told.get('path') ?? name;
  return { name: path.replace(/^\.\//, ''), bytes, content: read };
}

/** Reads what a header tells of the next file; null where it is a file itself. */
async function readExtension({ type, bytes }: TarHeader, body: Body): Promise<Told | null> {
  if (type !== 'x' && type !== 'L') return null;
  if (bytes > maxExtension) return new Map();
  const parts: Uint8Array[] = [];
  for await (const part of body.read()) parts.push(part);
  const text = Buffer.concat(parts);
  return type === 'x'
    ? readPax(text)
    : new Map([['path', text.toString('utf8').replace(/\0.*$/s, '')]]);
}

interface Body {
  readonly bytes: number;
  read(): AsyncGenerator<Uint8Array, void, undefined>;
  /** Goes past what has not been read, and the padding. */
  skip(): Promise<void>;
}

function createBody(reader: ByteReader, bytes: number): Body {
  let left = bytes;
  let padding = (tarBlock - (bytes % tarBlock)) % tarBlock;
  const takeNext = async (): Promise<Uint8Array | null> => {
    const some = left === 0 ? null : await reader.takeSome(left);
    left = some === null ? 0 : left - some.length;
    return some;
  };
  return {
    bytes,
    read: async function* () {
      for (let some = await takeNext(); some !== null; some = await takeNext()) yield some;
    },
    skip: async () => {
      while ((await takeNext()) !== null);
      await reader.take(padding);
      padding = 0;
    },
  };
}

/** Bytes that are taken in pieces of other sizes than they come in. */
interface ByteReader {
  /** Gives exactly so many bytes; null where there are fewer. */
  take(length: number): Promise<Buffer | null>;
  /** Gives the next bytes, at most so many; null at the end. */
  takeSome(most: number): Promise<Uint8Array | null>;
}

/** Creates what takes bytes from chunks. It takes none ahead of what is asked for but the rest of a chunk. */
function createByteReader(chunks: AsyncIterator<Uint8Array>): ByteReader {
  let rest: Uint8Array = new Uint8Array();
  const takeSome = async (most: number): Promise<Uint8Array | null> => {
    while (rest.length === 0) {
      const next = await chunks.next();
      if (next.done === true) return null;
      rest = next.value;
    }
    const some = rest.subarray(0, most);
    rest = rest.subarray(some.length);
    return some;
  };
  const take = async (length: number): Promise<Buffer | null> => {
    const parts: Uint8Array[] = [];
    for (let left = length; left > 0; ) {
      const some = await takeSome(left);
      if (some === null) return null;
      parts.push(some);
      left -= some.length;
    }
    return Buffer.concat(parts, length);
  };
  return { take, takeSome };
}
