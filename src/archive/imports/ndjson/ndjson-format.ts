import { stat } from 'node:fs/promises';
import { checkLanguages } from '../../../platforms/language.ts';
import type { ExportFormat, ExportItem } from '../export-source.ts';
import { readStart } from '../files/export-files.ts';
import { isHistoryStart, openHistory } from './history.ts';
import { headLine, type ItemLine, itemLine, ndjsonVersion } from './line.ts';
import { type Line, openLines, parseLine } from './lines.ts';

/** Import format of Perch's NDJSON: output of `perch archive export`, or a saved history. */
export const ndjsonFormat: ExportFormat = {
  name: 'ndjson',
  takesHandle: false,
  open: async (path) => {
    const found = await stat(path);
    const start = found.isFile() ? await readFirstLine(path) : '';
    const head = parseHead(start);
    if (head === null) return isHistoryStart(start) ? openHistory(path, found.size) : null;
    if (head.perch_archive > ndjsonVersion) {
      throw new Error('A newer version of Perch wrote this export. Update Perch to import it.');
    }
    return openLines(path, found.size, (readLines, name) => ({
      title: 'Perch export',
      exported: head.exported_at,
      groups: async function* () {
        for await (const lines of readLines()) {
          yield lines.filter(({ number }) => number > 1).map((line) => toItem(line, name));
        }
      },
    }));
  },
};

const startBytes = 4096;

async function readFirstLine(path: string): Promise<string> {
  const [first = ''] = (await readStart(path, startBytes)).toString('utf8').split('\n', 1);
  return first.replace(/^\ufeff/, '');
}

function parseHead(text: string) {
  try {
    return headLine.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null; // not the first line of an export
  }
}

function toItem(of: Line, name: string): ExportItem {
  const line = parseLine<ItemLine>(of, name, () => itemLine);
  switch (line.kind) {
    case 'skipped':
    case 'account':
    case 'follow':
      return line;
    case 'post': {
      const { parent: parentId, post, ...rest } = line;
      return { ...rest, post: checkLanguages(post), parentId };
    }
    case 'repost': {
      const { post_handle: postHandle, post_id: postId, ...rest } = line;
      return { ...rest, postHandle, postId };
    }
  }
}
