import { z } from 'zod';
import type { Account } from '../../../model/account.ts';
import { type Post, post, type Status } from '../../../model/post.ts';
import { text } from '../../../platforms/lenient.ts';
import type { ExportItem, ExportSource } from '../export-source.ts';
import { createSkip, type LineFile, openLineFile, parseLine, readValue } from './line-file.ts';
import type { Line } from './lines.ts';

/** A line of a saved history. Lines with other members are left out: new ones may be added. */
const historyLine = z.union([
  z.object({ post }).transform((line) => ({ kind: 'post' as const, post: line.post })),
  z.object({ error: z.object({ detail: text.catch('') }) }).transform(({ error }) => ({
    kind: 'error' as const,
    detail: error.detail,
  })),
  z.object({ meta: z.unknown() }).transform(() => ({ kind: 'meta' as const })),
]);

/** Before lines were tagged, a post was a line by itself. */
const plainPost = post.transform((plain) => ({ kind: 'post' as const, post: plain }));

/**
 * Tells whether a file begins as a history does.
 *
 * @throws Error with a sentence if it is an index, which has no posts
 */
export function isHistoryStart(start: string): boolean {
  if (start.startsWith('{"post":{"id":')) {
    throw new Error('It is an index of a history, which has no posts in it.');
  }
  return /^\{"(?:post":\{")?type":"(?:status|tombstone)"/.test(start);
}

/**
 * Opens a history that was saved as NDJSON, tagged or not. The account is the author of its own posts.
 *
 * @throws Error with a sentence if it is not to be imported
 */
export async function openHistory(path: string, bytes: number): Promise<ExportSource> {
  const file = openLineFile(path, bytes);
  const owner = await findOwner(file);
  if (owner?.account.platform === 'sample') {
    throw new Error('It is a history of the sample, which every archive has.');
  }
  return file.source({
    title: 'Perch history',
    groups: async function* () {
      if (owner === null) return;
      yield [{ kind: 'account', account: owner.account }];
      const reader = createReader(file.name, owner);
      for await (const lines of file.lines()) yield lines.flatMap(reader.read);
      yield reader.end();
    },
  });
}

interface Owner {
  readonly account: Account;
  /** When the newest of its own posts was written, in Unix seconds; `null` without any. */
  readonly newest: number | null;
}

/** Reads ahead to the first post of the account's own: a repost tells little of who made it. */
async function findOwner(file: LineFile): Promise<Owner | null> {
  let owner: Owner | null = null;
  for await (const lines of file.linesAhead()) {
    for (const found of lines.flatMap((line) => postOf(line, file.name))) {
      const { author, reposted_by: reposter, created_timestamp: newest } = found;
      if (reposter === null) return { account: author, newest };
      owner ??= { account: reposter, newest: null };
    }
  }
  return owner;
}

function postOf(line: Line, name: string): readonly Status[] {
  const read = readLine(line, name);
  return read?.kind === 'post' && read.post.type === 'status' ? [read.post] : [];
}

function readLine(line: Line, name: string) {
  const parsed = parseLine(line, name);
  if (parsed.kind === 'skipped') return parsed;
  const { value } = parsed;
  if (typeof value !== 'object' || value === null) return createSkip(line, name)(notAnObject);
  const isPlain = 'type' in value;
  const isKnown = isPlain || ['post', 'meta', 'error'].some((tag) => tag in value);
  if (!isKnown) return null;
  const read = readValue(isPlain ? plainPost : historyLine, value, createSkip(line, name));
  return read.kind === 'skipped' ? read : read.data;
}

const notAnObject = 'It is not of the form that was expected.';
const afterEnd =
  'It stands after the end of a history; import each history from a file of its own.';
const noEnd = 'The last line is missing, which says how the history ended.';

/** Creates what turns the lines of a history into items, in their order. */
function createReader(name: string, owner: Owner) {
  const place = createPlaces(owner);
  let hasEnded = false;
  let last = 0;
  const read = (line: Line): readonly ExportItem[] => {
    const skip = createSkip(line, name);
    const told = readLine(line, name);
    last = line.number;
    if (told === null) return [];
    if (hasEnded) return [skip(afterEnd)];
    switch (told.kind) {
      case 'skipped':
        return [told];
      case 'post':
        return toItems(told.post, place);
      case 'meta':
        hasEnded = true;
        return [];
      case 'error':
        hasEnded = true;
        return [{ ...skip(`The history ended early: ${told.detail}`), isCutOff: true }];
    }
  };
  const end = (): readonly ExportItem[] => {
    if (hasEnded) return [];
    const where = `${name}, line ${last + 1}`;
    return [{ kind: 'skipped', where, why: noEnd, cause: 'fault', isCutOff: true }];
  };
  return { read, end };
}

function toItems(found: Post, place: (post: Status) => number): readonly ExportItem[] {
  if (found.type === 'tombstone') return [];
  const { reposted_by: reposter, created_timestamp: created, replying_to, author, id } = found;
  const original = { ...found, reposted_by: null };
  const parentId = replying_to?.status ?? null;
  const at = place(found);
  return [
    { kind: 'post', post: original, parentId, created },
    ...(reposter === null
      ? []
      : [
          {
            kind: 'repost' as const,
            handle: reposter.screen_name.toLowerCase(),
            postHandle: author.screen_name.toLowerCase(),
            postId: id,
            created: at,
          },
        ]),
  ];
}

/**
 * Creates the function that returns when the account made or passed on a post, in Unix seconds. A history
 * does not say when a repost was made, only between which posts: reposts get the milliseconds right before
 * the post above them, in their order.
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
