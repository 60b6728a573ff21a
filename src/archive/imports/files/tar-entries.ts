import { trimEndOf } from '../../../core/trim-end.ts';
import { type ExportFile, readWhole } from './export-files.ts';

interface TarEntry extends ExportFile {
  readonly content: AsyncIterable<Uint8Array>;
}

const blockBytes = 512; // size of a block; all parts of a tar file are padded to it

const maxExtension = 64 * 1024; // maximum bytes of an extension header; longer headers are ignored

const maxEntries = 1_000_000;

/** Reads the entries of a tar file, up to its end or the first invalid header. */
export async function* readTarEntries(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const iterator = chunks[Symbol.asyncIterator]();
  const readBytes = createByteReader(iterator);
  let extensions: Extensions = new Map();
  try {
    for (let count = 0; count < maxEntries; count++) {
      const header = readHeader(await readWhole(readBytes(blockBytes)));
      if (header === null) return;
      const bytes = sizeOf(header, extensions);
      const content = readBytes(bytes);
      if (header.type === '0' || header.type === '\0') {
        const name = (extensions.get('path') ?? header.name).replace(/^\.\//, '');
        yield { name, bytes, content };
      }
      extensions = await readExtensions(header, content);
      await skip(content);
      await skip(readBytes((blockBytes - (bytes % blockBytes)) % blockBytes));
    }
  } finally {
    await iterator.return?.();
  }
}

function createByteReader(chunks: AsyncIterator<Uint8Array>) {
  let rest: Uint8Array = new Uint8Array();
  const hasRest = async (): Promise<boolean> => {
    while (rest.length === 0) {
      const next = await chunks.next();
      if (next.done === true) return false;
      rest = next.value;
    }
    return true;
  };
  return (length: number): AsyncIterable<Uint8Array> => {
    let left = length;
    return {
      async *[Symbol.asyncIterator]() {
        while (left > 0 && (await hasRest())) {
          const chunk = rest.subarray(0, left);
          rest = rest.subarray(chunk.length);
          left -= chunk.length;
          yield chunk;
        }
      },
    };
  };
}

async function skip(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _piece of chunks);
}

interface Header {
  readonly name: string;
  readonly bytes: number;
  readonly type: string;
}

function readHeader(block: Buffer): Header | null {
  const [sum, bytes] = [readOctal(block, 148, 8), readOctal(block, 124, 12)];
  if (block.length < blockBytes || sum !== sumOf(block) || bytes === null) return null;
  const isUstar = block.toString('latin1', 257, 262) === 'ustar';
  const folders = isUstar ? [readText(block, 345, 155)].filter((prefix) => prefix !== '') : [];
  const name = [...folders, readText(block, 0, 100)].join('/');
  return { name, bytes, type: block.toString('latin1', 156, 157) };
}

function sumOf(block: Buffer): number {
  const add = (sum: number, byte: number) => sum + byte;
  return block.reduce(add, 0) - block.subarray(148, 156).reduce(add, 0) + 8 * 0x20;
}

function readOctal(block: Buffer, from: number, length: number): number | null {
  const text = trimEndOf(block.toString('latin1', from, from + length), '\0 ').trimStart();
  return /^[0-7]{1,12}$/.test(text) ? Number.parseInt(text, 8) : null;
}

function readText(block: Buffer, from: number, length: number): string {
  const field = block.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

type Extensions = ReadonlyMap<string, string>;

function sizeOf({ bytes, type }: Header, extensions: Extensions): number {
  if (isExtension(type)) return bytes;
  const size = Number(extensions.get('size') ?? bytes);
  return Number.isSafeInteger(size) && size >= 0 ? size : 0;
}

const isExtension = (type: string): boolean => type === 'x' || type === 'L';

async function readExtensions(
  { type, bytes }: Header,
  content: AsyncIterable<Uint8Array>,
): Promise<Extensions> {
  if (!isExtension(type) || bytes > maxExtension) return new Map();
  const text = await readWhole(content);
  return type === 'x' ? readPax(text) : new Map([['path', readText(text, 0, text.length)]]);
}

function readPax(bytes: Buffer): Extensions {
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
