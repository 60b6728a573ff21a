import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Post } from '../../model/post.ts';
import type { Page, TimelineQuery } from '../../model/queries.ts';
import type { Platform } from '../../model/reference.ts';
import { type AccountRow, currentHandle } from './account-rows.ts';
import { parseCursor, printCursor, type Row, toPage, toRowLimit } from './paging.ts';
import { endOfNumbers, firstNumberAt, toNumber } from './post-number.ts';
import type { RowDecoder } from './stored-json.ts';
import { openTypedPosts } from './typed-posts.ts';
import { openAtomicWriter, openNumberedWriter } from './writers.ts';

/** Repost, whose original post is stored separately. Handles are in lower case. */
export interface StoredRepost {
  readonly platform: Platform;
  readonly handle: string;
  readonly postHandle: string;
  readonly postId: string;
  /** Unix second of the repost. The fraction determines the order within a second. */
  readonly created: number;
  /** Unix second when the repost was stored; if imported, when its export was made. */
  readonly stored: number;
}

interface TimelineRow {
  readonly number: number;
  readonly stored: number;
  readonly json: string;
}

export function openTimelines(database: SqliteDatabase, decoder: RowDecoder) {
  const readPosts = openPostReader(database);
  const readReposts = openRepostReader(database);
  return {
    /** Replaces the account's repost of the same post, unless the existing repost is newer. */
    putRepost: openRepostWriter(database),
    /** Reads a page, newest first, without self-reposts and reposts of unavailable posts. */
    readTimeline: (account: AccountRow, query: TimelineQuery): Page<Post> => {
      const of = { handle: account.handle, below: belowOf(query), limit: toRowLimit(query.count) };
      const posts = readPosts(query, of);
      // Reposts older than a full page of posts cannot be on this page.
      const oldest = posts.length < of.limit ? -1 : (posts.at(-1)?.number ?? -1);
      const reposted = query.withReposts ? readReposts(query, { ...of, oldest }) : [];
      const by = reposted.length > 0 ? { reposted_by: account.account() } : {};
      const rows = [
        ...posts.map((row) => toRow(row, decoder.post(row.json))),
        ...reposted.map((row) => toRow(row, { ...decoder.post(row.json), ...by })),
      ];
      rows.sort((a, b) => b.number - a.number);
      return toPage(rows.slice(0, of.limit), query.count);
    },
  };
}

interface Below {
  readonly handle: string;
  readonly below: number;
  readonly limit: number;
}

const selections = {
  all: 'gone = 0',
  originals: 'gone = 0 AND answers_other = 0',
  replies: 'gone = 0 AND answers_other = 1',
} as const;

function selectionOf({ withReplies, onlyReplies }: TimelineQuery): keyof typeof selections {
  if (onlyReplies === true) return 'replies';
  return withReplies ? 'all' : 'originals';
}

const withMedia = 'AND has_media = 1';

function openPostReader(database: SqliteDatabase) {
  const prepare = (where: string) =>
    database.prepare<unknown[], TimelineRow>(
      `SELECT number, stored, json FROM posts WHERE platform = ? AND handle = ? AND number < ?
         AND ${where} ORDER BY number DESC LIMIT ?`,
    );
  const prepareBoth = (where: string) => ({
    everything: prepare(where),
    media: prepare(`${where} ${withMedia}`),
  });
  const readers = {
    all: prepareBoth(selections.all),
    originals: prepareBoth(selections.originals),
    replies: prepareBoth(selections.replies),
  };
  return (query: TimelineQuery, { handle, below, limit }: Below) => {
    const { everything, media } = readers[selectionOf(query)];
    const reader = query.onlyMedia === true ? media : everything;
    return reader.all(query.account.platform, handle, below, limit);
  };
}

function openRepostReader(database: SqliteDatabase) {
  const prepare = (where: string) =>
    database.prepare<unknown[], TimelineRow>(
      `SELECT reposts.number, min(reposts.stored, posts.stored) AS stored, posts.json
       FROM reposts CROSS JOIN public_posts AS posts
         ON posts.platform = reposts.platform AND posts.id = post_id
           AND posts.handle = ${currentHandle('reposts', 'post_handle')}
       WHERE reposts.platform = ? AND reposts.handle = ? AND reposts.number < ?
         AND reposts.number > ? AND post_handle <> reposts.handle AND posts.gone = 0 ${where}
       ORDER BY reposts.number DESC LIMIT ?`,
    );
  const all = prepare('');
  const media = prepare(withMedia);
  return (query: TimelineQuery, of: Below & { readonly oldest: number }) => {
    const { handle, below, oldest, limit } = of;
    const reader = query.onlyMedia === true ? media : all;
    return reader.all(query.account.platform, handle, below, oldest, limit);
  };
}

function belowOf({ cursor, untilSeconds }: TimelineQuery): number {
  const until = untilSeconds === null ? endOfNumbers : firstNumberAt(untilSeconds);
  const [after = endOfNumbers] = cursor === null ? [] : parseCursor(cursor, 1);
  return Math.min(until, after);
}

function toRow({ number, stored }: TimelineRow, item: Post): Row<Post> & { number: number } {
  return { number, item, stored, cursor: printCursor(number) };
}

function openRepostWriter(database: SqliteDatabase) {
  const key = ['platform', 'handle', 'post_handle', 'post_id'];
  const write = openNumberedWriter(database, { table: 'reposts', columns: 6, key });
  const { isTyped } = openTypedPosts(database);
  return openAtomicWriter(database, (of: StoredRepost) => {
    if (isTyped(of)) return;
    const names = [of.platform, of.handle, of.postHandle, of.postId];
    const wanted = toNumber({ kind: 'repost', at: of.created, key: names.join(' ') });
    write({ wanted, values: [...names, of.stored], stored: of.stored });
  });
}
