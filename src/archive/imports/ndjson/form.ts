import { open, stat } from 'node:fs/promises';
import type { ExportForm, ExportItem, ExportSource } from '../export-source.ts';
import { isHistoryStart, openHistory } from './history.ts';
import { headLine, type ItemLine, itemLine, ndjsonVersion } from './line.ts';
import { createSkip, openLineFile, parseLine, readValue } from './line-file.ts';
import type { Line } from './lines.ts';

/** Perch's own NDJSON: what `perch archive export` writes, and a history that was saved to a file. */
export const ndjsonForm: ExportForm = {
  name: 'ndjson',
  takesHandle: false,
  open: async (path) => {
    const { size, isFile } = await look(path);
    const start = isFile ? await readStart(path) : '';
    const head = parseHead(start);
    if (head === null) return isHistoryStart(start) ? openHistory(path, size) : null;
    if (head.perch_archive > ndjsonVersion) {
      throw new Error('A newer version of Perch has written this export.');
    }
    return openArchived(path, size, head.exported_at);
  },
};

async function look(path: string) {
  const found = await stat(path);
  return { size: found.size, isFile: found.isFile() };
}

/** More than the first line of an export has, and enough of a history to know it. */
const startBytes = 4096;

async function readStart(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(startBytes), 0, startBytes, 0);
    const [first = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1);
    return first.replace(/^\ufeff/, '');
  } finally {
    await file.close();
  }
}

function parseHead(text: string) {
  try {
    return headLine.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null; // a longer line of something else
  }
}

function openArchived(path: string, bytes: number, exported: number): ExportSource {
  const file = openLineFile(path, bytes);
  return file.source({
    title: 'Perch export',
    exported,
    groups: async function* () {
      for await (const lines of file.lines()) {
        yield lines.filter(({ number }) => number > 1).map((line) => toItem(line, file.name));
      }
    },
  });
}

function toItem(line: Line, name: string): ExportItem {
  const parsed = parseLine(line, name);
  if (parsed.kind === 'skipped') return parsed;
  const item = readValue(itemLine, parsed.value, createSkip(line, name));
  return item.kind === 'skipped' ? item : toExported(item.data);
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
