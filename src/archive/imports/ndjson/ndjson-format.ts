import * as z from 'zod';
import { type Account, account } from '../../../model/account.ts';
import { type Post, post, type Status } from '../../../model/post.ts';
import { checkLanguages } from '../../../normalize/language.ts';
import { text } from '../../../normalize/lenient.ts';
import { maximums } from '../../../normalize/maximums.ts';
import type { ArchivedItem } from '../../export/export-rows.ts';
import {
  createExportSource,
  type ExportFile,
  type ExportFiles,
  type ExportFormat,
  type ExportItem,
  type ExportSource,
  readStart,
  skipRecord,
  toPostItem,
  toRepostItem,
} from '../export-source.ts';
import { convertRecords, type ExportRecord } from '../records.ts';
import { type Line, parseLine, readLines } from './lines.ts';

/* Perch's own export format: a first line that identifies the format, then one line of JSON per item. */

/** Version in the first line of an NDJSON export. Imports reject files with a later version. */
const ndjsonVersion = 1;

const seconds = z.number().nonnegative();

const name = z.string().max(maximums.url);
const stored = z
  .int()
  .nonnegative()
  .describe('Unix second at which the platform provided the item.');

const headLine = z.object({
  perch_archive: z.int().positive(),
  exported_at: z.int().nonnegative().describe('Time of the export in Unix seconds.'),
});

const itemLine = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('account'), stored, account }),
  z
    .object({ kind: z.literal('post'), stored, post, parent: name.nullable(), created: seconds })
    .transform(({ parent, ...line }) => ({
      ...line,
      post: checkLanguages(line.post),
      parentId: parent,
    })),
  z
    .object({
      kind: z.literal('repost'),
      stored,
      handle: name,
      post_handle: name,
      post_id: name,
      created: seconds,
    })
    .transform(({ post_handle: postHandle, post_id: postId, ...line }) => ({
      ...line,
      postHandle,
      postId,
    })),
  z.object({ kind: z.literal('follow'), stored, follower: name, followed: name }),
]);

/** Returns the first line of an NDJSON export. `now` is in Unix seconds. */
export function toHeadLine(now: number): string {
  const head: z.output<typeof headLine> = { perch_archive: ndjsonVersion, exported_at: now };
  return `${JSON.stringify(head)}\n`;
}

export const toItemLine = (item: ArchivedItem): string => `${JSON.stringify(toLine(item))}\n`;

function toLine(item: ArchivedItem): z.input<typeof itemLine> {
  const { kind, stored } = item;
  switch (kind) {
    case 'account':
      return { kind, stored, account: item.account };
    case 'post':
      return { kind, stored, created: item.created, parent: item.parentId, post: item.post };
    case 'repost': {
      const { handle, postHandle, postId, created } = item;
      return { kind, stored, created, handle, post_handle: postHandle, post_id: postId };
    }
    case 'follow':
      return { kind, stored, follower: item.follower, followed: item.followed };
  }
}

/** Import format of Perch's NDJSON: output of `perch archive export`, or a saved history. */
export const ndjsonFormat: ExportFormat = {
  name: 'ndjson',
  takesHandle: false,
  open: async (files) => {
    const [file] = files.files;
    if (files.kind !== 'file' || file === undefined) return null;
    const start = await readFirstLine(file);
    const head = parseHead(start);
    if (head === null) return isHistoryStart(start) ? openHistory(files, file) : null;
    if (head.perch_archive > ndjsonVersion) {
      throw new Error('A newer version of Perch wrote this export. Update Perch to import it.');
    }
    return createExportSource(files, (count) => {
      const counted = count(file);
      return {
        title: 'Perch export',
        exportedMs: head.exported_at * 1000,
        groups: async function* () {
          for await (const lines of readLines(counted.read())) {
            const items = lines.filter(({ number }) => number > 1);
            const records = items.map((line) => parseLine(line, file.name, () => itemLine));
            yield convertRecords<ExportItem>(records, (item) => item);
          }
        },
      };
    });
  },
};

const startBytes = 4096;

async function readFirstLine(file: ExportFile): Promise<string> {
  const [first = ''] = String(await readStart(file.read(), startBytes)).split('\n', 1);
  return first.replace(/^\ufeff/, '');
}

function parseHead(text: string) {
  try {
    return headLine.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null; // not the first line of an export
  }
}

const historyPost = post.transform((whole) => ({ kind: 'post' as const, post: whole }));

const historyLine = z.union([
  z.object({ post }).transform((line) => ({ kind: 'post' as const, ...line })),
  z
    .object({ error: z.object({ detail: text.catch('') }) })
    .transform(({ error }) => ({ kind: 'error' as const, detail: error.detail })),
  z.object({ meta: z.unknown() }).transform(() => ({ kind: 'meta' as const })),
]);

const otherLine = z.unknown().transform(() => ({ kind: 'other' as const }));

type HistoryLine = z.output<typeof historyLine | typeof otherLine>;

function parseHistoryLine(line: Line, name: string): ExportRecord<HistoryLine> {
  return parseLine<HistoryLine>(line, name, (value) => {
    if (typeof value !== 'object' || value === null) return historyLine;
    if ('type' in value) return historyPost;
    return ['post', 'meta', 'error'].some((tag) => tag in value) ? historyLine : otherLine;
  });
}

function isHistoryStart(start: string): boolean {
  if (start.startsWith('{"post":{"id":')) {
    throw new Error('It is the index of a history, which contains no posts.');
  }
  return /^\{"(?:post":\{")?type":"(?:status|tombstone)"/.test(start);
}

async function openHistory(files: ExportFiles, file: ExportFile): Promise<ExportSource> {
  const owner = await findOwner(file);
  if (owner?.account.platform === 'sample') {
    throw new Error('It is a history of the sample, which every archive contains.');
  }
  return createExportSource(files, (count) => {
    const counted = count(file);
    return {
      title: 'Perch history',
      groups: async function* () {
        if (owner === null) return;
        yield [{ kind: 'account', account: owner.account }];
        const reader = createReader(file.name, owner);
        for await (const lines of readLines(counted.read())) yield lines.flatMap(reader.read);
        yield reader.end();
      },
    };
  });
}

interface Owner {
  readonly account: Account;
  readonly newest: number | null;
}

async function findOwner(file: ExportFile): Promise<Owner | null> {
  let owner: Owner | null = null;
  for await (const lines of readLines(file.read())) {
    for (const found of lines.flatMap((line) => statusOf(line, file.name))) {
      const { author, reposted_by: reposter, created_timestamp: newest } = found;
      if (reposter === null) return { account: author, newest };
      owner ??= { account: reposter, newest: null };
    }
  }
  return owner;
}

function statusOf(line: Line, name: string): readonly Status[] {
  const read = parseHistoryLine(line, name);
  const isPost = read.kind === 'row' && read.row.kind === 'post';
  return isPost && read.row.post.type === 'status' ? [read.row.post] : [];
}

const afterEnd = 'It follows the end of a history. Import each history from its own file.';
const noEnd = 'The last line, which says how the history ended, is missing.';

function createReader(name: string, owner: Owner) {
  const estimateTime = createTimeEstimator(owner);
  let hasEnded = false;
  let last = 0;
  const read = (line: Line): readonly ExportItem[] => {
    last = line.number;
    const record = parseHistoryLine(line, name);
    const location = `${name}, line ${last}`;
    if (record.kind === 'row' && record.row.kind === 'other') return [];
    if (hasEnded) return [skipRecord(location, afterEnd)];
    return convertRecords([record], (row) => {
      if (row.kind === 'post') return toItems(checkLanguages(row.post), estimateTime);
      hasEnded = true;
      if (row.kind !== 'error') return [];
      const reason = `The history ended early: ${row.detail}`;
      return { ...skipRecord(location, reason), isCutOff: true };
    });
  };
  const end = (): readonly ExportItem[] =>
    hasEnded ? [] : [{ ...skipRecord(`${name}, line ${last + 1}`, noEnd), isCutOff: true }];
  return { read, end };
}

function toItems(found: Post, estimateTime: (post: Status) => number): readonly ExportItem[] {
  if (found.type === 'tombstone') return [];
  const { reposted_by: reposter, created_timestamp: created } = found;
  const item = toPostItem({ ...found, reposted_by: null }, created);
  const at = estimateTime(found);
  return reposter === null ? [item] : [item, toRepostItem(reposter, found, at)];
}

function createTimeEstimator({ newest }: Owner): (post: Status) => number {
  let above = newest === null ? null : newest + 2;
  let reposts = 0;
  return ({ reposted_by, created_timestamp }) => {
    above ??= created_timestamp;
    if (reposted_by === null) {
      above = created_timestamp;
      reposts = 0;
      return above;
    }
    reposts = Math.min(reposts + 1, 999);
    return above - reposts / 1000;
  };
}
