import type { SqliteDatabase } from '../../lib/files/sqlite.ts';
import type { Post, Status } from '../../model/post.ts';
import type { Page, TimelineQuery } from '../../model/queries.ts';
import type { AccountReference, Platform } from '../../model/reference.ts';
import { type AccountRow, currentHandle } from './account-rows.ts';
import { parseCursor, printCursor, type Row, toPage, toRowLimit } from './paging.ts';
import {
  endOfNumbers,
  firstNumberAt,
  openAtomicWriter,
  openNumberedWriter,
  secondOf,
  toNumber,
} from './post-number.ts';
import { openTypedPosts } from './post-rows.ts';
import type { RowDecoder } from './stored-json.ts';

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

export interface HistoryPost {
  /** Unique number of the post, higher for later posts (`post-number.ts`). */
  readonly number: number;
  /** Unix second of the post. */
  readonly created: number;
  /** Unix second when the post was stored; for imported posts, when their export was created. */
  readonly stored: number;
  /** Whether the post replies to an earlier archived post of the same account. */
  readonly continues: boolean;
  readonly post: Status;
}

interface PostRow extends Pick<HistoryPost, 'number' | 'stored'> {
  readonly json: string;
  readonly continues: number;
}

interface RepostRow {
  readonly number: number;
  readonly post_handle: string;
  readonly post_id: string;
  readonly json: string | null;
}

const answersOwn = `(posts.platform IN ('x', 'sample') OR posts.answers_other = 0)`;

/** Returns functions that read an account's posts and reposts oldest first, except deleted ones. */
export function openHistories(database: SqliteDatabase, decoder: RowDecoder) {
  // The parent must be earlier. Otherwise two posts could be replies to each other.
  const posts = database.prepare<unknown[], PostRow>(
    `SELECT number, stored, json, EXISTS (
       SELECT 1 FROM posts AS parents
       WHERE parents.platform = posts.platform AND parents.id = posts.parent_id
         AND parents.handle = posts.handle AND parents.gone = 0 AND parents.number < posts.number
         AND ${answersOwn}
     ) AS continues
     FROM posts WHERE platform = ? AND handle = ? AND gone = 0 AND number > ?
     ORDER BY number LIMIT ?`,
  );
  // Without the index hint, SQLite scans all posts of the account for each post.
  const continuations = database.prepare<unknown[], PostRow>(
    `SELECT number, stored, json, 1 AS continues FROM posts INDEXED BY posts_by_parent
     WHERE platform = ? AND parent_id = ? AND handle = ? AND gone = 0 AND number > ?
       AND ${answersOwn} ORDER BY number`,
  );
  const reposts = database.prepare<unknown[], RepostRow>(
    `SELECT reposts.number, post_handle, post_id, posts.json
     FROM reposts LEFT JOIN public_posts AS posts
       ON posts.platform = reposts.platform AND posts.id = post_id AND posts.gone = 0
         AND posts.handle = ${currentHandle('reposts', 'post_handle')}
     WHERE reposts.platform = ? AND reposts.handle = ? AND reposts.number > ?
       AND post_handle <> reposts.handle
     ORDER BY reposts.number LIMIT ?`,
  );
  const toPost = ({ json, continues, ...row }: PostRow): HistoryPost => ({
    ...row,
    created: secondOf(row.number),
    continues: continues === 1,
    post: decoder.post(json) as Status, // rows with `gone = 0` are posts
  });
  return {
    /** Reads up to `count` posts after a post number, oldest first. Pass -1 for the first page. */
    readHistory: ({ platform, handle }: AccountReference, after: number, count: number) =>
      posts.all(platform, handle, after, count).map(toPost),
    /** Reads an account's replies to one of its own posts, oldest first. */
    readContinuations: ({ platform, handle }: AccountReference, { number, post }: HistoryPost) =>
      continuations.all(platform, post.id, handle, number).map(toPost),
    /** Reads reposts of other accounts' posts, oldest first. `post` is `null` if unavailable. */
    readReposts: ({ platform, handle }: AccountReference, after: number, count: number) =>
      reposts.all(platform, handle, after, count).map((row) => ({
        number: row.number,
        created: secondOf(row.number),
        postHandle: row.post_handle,
        postId: row.post_id,
        post: row.json === null ? null : (decoder.post(row.json) as Status), // rows with `gone = 0` are posts
      })),
  };
}
