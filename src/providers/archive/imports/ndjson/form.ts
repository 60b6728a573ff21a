import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseStored } from '../../stored-json.ts';
import type { ExportForm, ExportItem, ExportSource, SkippedRecord } from '../export-source.ts';
import { createFileCount } from '../files/export-files.ts';
import { tellFault } from '../records.ts';
import { headLine, type ItemLine, itemLine, ndjsonVersion } from './line.ts';
import { type Line, readLines } from './lines.ts';

/** Perch's own NDJSON, as `perch archive export` writes it. */
export const ndjsonForm: ExportForm = {
  name: 'ndjson',
  takesHandle: false,
  open: async (path) => {
    const { size, isFile } = await look(path);
    const head = isFile ? await readHead(path) : null;
    if (head === null) return null;
    if (head.perch_archive > ndjsonVersion) {
      throw new Error('A newer version of Perch has written this export.');
    }
    return openSource(path, size, head.exported_at);
  },
};

async function look(path: string) {
  const found = await stat(path);
  return { size: found.size, isFile: found.isFile() };
}

/** More than a first line has. */
const headBytes = 4096;

async function readHead(path: string) {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    const [first = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1);
    return headLine.safeParse(JSON.parse(first.replace(/^\ufeff/, ''))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  } finally {
    await file.close();
  }
}

function openSource(path: string, bytes: number, exported: number): ExportSource {
  const file = { name: basename(path), bytes };
  const count = createFileCount({
    files: [file],
    read: () => createReadStream(path),
    close: async () => undefined,
  });
  return {
    title: 'Perch export',
    exported,
    totalBytes: bytes,
    get bytesRead() {
      return count.bytes;
    },
    groups: async function* () {
      for await (const lines of readLines(count.read(file))) {
        yield lines.filter(({ number }) => number > 1).map((line) => toItem(line, file.name));
      }
    },
    close: async () => undefined,
  };
}

function toItem(line: Line, name: string): ExportItem {
  const skip = (why: string): SkippedRecord => ({
    kind: 'skipped',
    where: `${name}, line ${line.number}`,
    why,
    cause: 'fault',
  });
  if (line.kind === 'too long') return skip('It is larger than 8 MiB.');
  let value: unknown;
  try {
    value = parseStored(line.text);
  } catch {
    if (line.isEnded) return skip('It is not valid JSON.');
    // Every line is written with its line feed: this one is not whole.
    return { ...skip('The file ends in the middle of this line.'), isCutOff: true };
  }
  const parsed = itemLine.safeParse(value);
  return parsed.success ? toExported(parsed.data) : skip(tellFault(parsed.error));
}

function toExported(line: ItemLine): ExportItem {
  switch (line.kind) {
    case 'account':
    case 'follow':
      return line;
    case 'post': {
      const { parent: parentId, ...rest } = line;
      return { ...rest, parentId };
    }
    case 'repost': {
      const { post_handle: postHandle, post_id: postId, ...rest } = line;
      return { ...rest, postHandle, postId };
    }
  }
}
