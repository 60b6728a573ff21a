import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { z } from 'zod';
import type { Account } from '../../../model/account.ts';
import { type Post, post, type Status } from '../../../model/post.ts';
import { text } from '../../../platforms/lenient.ts';
import type { ExportItem, ExportSource } from '../export-source.ts';
import { type Line, openLines, parseLine, readLines, skipLine } from './lines.ts';

/** Before lines were tagged, a post was a line by itself. */
const plainPost = post.transform((plain) => ({ kind: 'post' as const, post: plain }));

const historyLine = z.union([
  z.object({ post }).transform((line) => ({ kind: 'post' as const, ...line })),
  z.object({ error: z.object({ detail: text.catch('') }) }).transform(({ error }) => ({
    kind: 'error' as const,
    detail: error.detail,
  })),
  z.object({ meta: z.unknown() }).transform(() => ({ kind: 'meta' as const })),
]);

/** A line with other members is left out: new ones may be added. */
const otherLine = z.unknown().transform(() => ({ kind: 'other' as const }));

type HistoryLine = z.output<typeof historyLine | typeof otherLine>;

function schemaOf(value: unknown): z.ZodType<HistoryLine> {
  if (typeof value !== 'object' || value === null) return historyLine;
  if ('type' in value) return plainPost;
  return ['post', 'meta', 'error'].some((tag) => tag in value) ? historyLine : otherLine;
}

/** Returns whether a file begins as a history does. @throws Error with a sentence if it is an index, without posts */
export function isHistoryStart(start: string): boolean {
  if (start.startsWith('{"post":{"id":')) {
    throw new Error('It is an index of a history, which has no posts in it.');
  }
  return /^\{"(?:post":\{")?type":"(?:status|tombstone)"/.test(start);
}

/** Opens a saved history, tagged or not, of the author of its own posts. @throws Error if it is not to be imported */
export async function openHistory(path: string, bytes: number): Promise<ExportSource> {
  const owner = await findOwner(path);
  if (owner?.account.platform === 'sample') {
    throw new Error('It is a history of the sample, which every archive has.');
  }
  return openLines(path, bytes, (readLines, name) => ({
    title: 'Perch history',
    groups: async function* () {
      if (owner === null) return;
      yield [{ kind: 'account', account: owner.account }];
      const reader = createReader(name, owner);
      for await (const lines of readLines()) yield lines.flatMap(reader.read);
      yield reader.end();
    },
  }));
}

/** `newest`: when the newest of its own posts was written, in Unix seconds; `null` without any. */
interface Owner {
  readonly account: Account;
  readonly newest: number | null;
}

/** Reads ahead to the first post of the account's own: a repost tells little of who made it. */
async function findOwner(path: string): Promise<Owner | null> {
  let owner: Owner | null = null;
  for await (const lines of readLines(createReadStream(path))) {
    for (const found of lines.flatMap((line) => statusOf(line, basename(path)))) {
      const { author, reposted_by: reposter, created_timestamp: newest } = found;
      if (reposter === null) return { account: author, newest };
      owner ??= { account: reposter, newest: null };
    }
  }
  return owner;
}

function statusOf(line: Line, name: string): readonly Status[] {
  const read = parseLine(line, name, schemaOf);
  return read.kind === 'post' && read.post.type === 'status' ? [read.post] : [];
}

const afterEnd =
  'It stands after the end of a history; import each history from a file of its own.';
const noEnd = 'The last line is missing, which says how the history ended.';

/** Creates what turns the lines of a history into items, in their order. */
function createReader(name: string, owner: Owner) {
  const place = createPlaces(owner);
  let hasEnded = false;
  let last = 0;
  const read = (line: Line): readonly ExportItem[] => {
    const told = parseLine(line, name, schemaOf);
    last = line.number;
    if (told.kind === 'other') return [];
    if (hasEnded) return [skipLine(line, name, afterEnd)];
    if (told.kind === 'skipped') return [told];
    if (told.kind === 'post') return toItems(told.post, place);
    hasEnded = true;
    if (told.kind === 'meta') return [];
    const why = `The history ended early: ${told.detail}`;
    return [{ ...skipLine(line, name, why), isCutOff: true }];
  };
  const end = (): readonly ExportItem[] =>
    hasEnded ? [] : [{ ...skipLine({ number: last + 1 }, name, noEnd), isCutOff: true }];
  return { read, end };
}

function toItems(found: Post, place: (post: Status) => number): readonly ExportItem[] {
  if (found.type === 'tombstone') return [];
  const { reposted_by: reposter, created_timestamp: created, replying_to, author, id } = found;
  const original = { ...found, reposted_by: null };
  const at = place(found);
  const item: ExportItem = {
    kind: 'post',
    post: original,
    parentId: replying_to?.status ?? null,
    created,
  };
  if (reposter === null) return [item];
  const handle = reposter.screen_name.toLowerCase();
  const postHandle = author.screen_name.toLowerCase();
  return [item, { kind: 'repost', handle, postHandle, postId: id, created: at }];
}

/**
 * Creates the function that returns when the account made or passed on a post, in Unix seconds. A history tells only
 * between which posts a repost was made: reposts get the milliseconds right before the post above them, in their
 * order.
 */
function createPlaces({ newest }: Owner): (post: Status) => number {
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
