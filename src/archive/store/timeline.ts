import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Post } from '../../model/post.ts';
import type { Page, TimelineQuery } from '../../model/queries.ts';
import type { Platform } from '../../model/reference.ts';
import { toNameWord } from '../search/words.ts';
import type { HeldAccount } from './account-rows.ts';
import { currentHandle } from './current-handle.ts';
import { openNumbering } from './numbering.ts';
import { parseCursor, printCursor, type Row, toPage, toRowLimit } from './paging.ts';
import { endOfNumbers, firstNumberAt, toNumber } from './post-number.ts';
import { openPut } from './put.ts';
import type { Revive } from './stored-json.ts';

/** A repost as it is kept; the original is a post of its own. Handles are lower case. */
export interface StoredRepost {
  readonly platform: Platform;
  /** Who reposted. */
  readonly handle: string;
  readonly postHandle: string;
  readonly postId: string;
  /** When it was reposted, in Unix seconds; a fraction orders those of one second. */
  readonly created: number;
  /** When it was put here or exported elsewhere, in Unix seconds. */
  readonly stored: number;
}

/** The table of reposts, and the timelines of posts and reposts. */
export interface Timelines {
  /** Adds a repost, or replaces the one that the account made of this post unless that was stored later. */
  putRepost(stored: StoredRepost): void;
  /**
   * Reads what an account posted and reposted, newest first, a repost at the time of the repost.
   * Left out are reposts of own posts, which stand there already, and those of posts that the
   * archive does not hold, that are gone, or whose author is protected.
   */
  readTimeline(account: HeldAccount, query: TimelineQuery): Page<Post>;
}

interface TimelineRow {
  readonly number: number;
  readonly stored: number;
  readonly json: string;
}

/** Prepares the statements that write reposts and read timelines. */
export function openTimelines(database: SqliteDatabase, revive: Revive): Timelines {
  const readPosts = openPostReader(database);
  const readReposts = openRepostReader(database);
  return {
    putRepost: openRepostWriter(database),
    readTimeline: (account, query) => {
      const of = { handle: account.handle, below: belowOf(query) };
      const limit = toRowLimit(query.count);
      const posts = readPosts(query, of, limit);
      // Reposts older than a full page of posts are not on it.
      const oldest = posts.length < limit ? -1 : (posts.at(-1)?.number ?? -1);
      const reposted = query.withReposts ? readReposts(query, { ...of, oldest }, limit) : [];
      const by = reposted.length > 0 ? { reposted_by: account.account() } : {};
      const rows = [
        ...posts.map((row) => toRow(row, revive.post(row.json))),
        ...reposted.map((row) => toRow(row, { ...revive.post(row.json), ...by })),
      ];
      rows.sort((a, b) => b.number - a.number);
      return toPage(rows.slice(0, limit), { count: query.count });
    },
  };
}

/** The account whose rows are read, and the number that they are all below. */
interface Below {
  readonly handle: string;
  readonly below: number;
}

/** Prepares the reads of an account's own posts, newest first. */
function openPostReader(database: SqliteDatabase) {
  const prepare = (where: string) =>
    database.prepare<unknown[], TimelineRow>(
      `SELECT number, stored, json FROM posts WHERE platform = ? AND handle = ? AND number < ?
         AND ${where} ORDER BY number DESC LIMIT ?`,
    );
  // The index of words is in the order of posts, so the newest with media are found without a scan.
  const prepareMedia = (where: string) =>
    database.prepare<unknown[], TimelineRow>(
      `SELECT posts.number, posts.stored, posts.json
       FROM post_words CROSS JOIN posts ON posts.number = post_words.rowid
       WHERE platform = ? AND handle = ? AND post_words.rowid < CAST(? AS INTEGER)
         AND ${where} AND post_words MATCH ?
       ORDER BY post_words.rowid DESC LIMIT ?`,
    );
  const everything = 'gone = 0';
  const withoutReplies = 'gone = 0 AND answers_other = 0';
  const all = { true: prepare(everything), false: prepare(withoutReplies) };
  const media = { true: prepareMedia(everything), false: prepareMedia(withoutReplies) };
  return (query: TimelineQuery, { handle, below }: Below, limit: number) => {
    const replies = query.withReplies ? 'true' : 'false';
    const of = [query.account.platform, handle, below];
    if (query.onlyMedia !== true) return all[replies].all(...of, limit);
    const words = `author : "${toNameWord(handle)}" AND ${mediaMark}`;
    return media[replies].all(...of, words, limit);
  };
}

const mediaMark = 'marks : "media"';

/** Prepares the reads of what an account reposted, newest first. */
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
  const media = prepare(
    `AND EXISTS (SELECT 1 FROM post_words
       WHERE post_words.rowid = posts.number AND post_words MATCH '${mediaMark}')`,
  );
  return (query: TimelineQuery, of: Below & { readonly oldest: number }, limit: number) => {
    const { handle, below, oldest } = of;
    const reader = query.onlyMedia === true ? media : all;
    return reader.all(query.account.platform, handle, below, oldest, limit);
  };
}

/** Gives the number that everything on the page is below. */
function belowOf({ cursor, untilSeconds }: TimelineQuery): number {
  const until = untilSeconds === null ? endOfNumbers : firstNumberAt(untilSeconds);
  const [after = endOfNumbers] = cursor === null ? [] : parseCursor(cursor, 1);
  return Math.min(until, after);
}

function toRow({ number, stored }: TimelineRow, item: Post): Row<Post> & { number: number } {
  return { number, item, stored, cursor: printCursor(number) };
}

function openRepostWriter(database: SqliteDatabase): Timelines['putRepost'] {
  const columns = 'VALUES (?, ?, ?, ?, ?, ?)';
  const insert = database.prepare(`INSERT OR IGNORE INTO reposts ${columns}`);
  const replace = database.prepare(`INSERT OR REPLACE INTO reposts ${columns}`);
  const settle = openNumbering(database, 'reposts');
  const current = database.prepare<unknown[], { readonly number: number; readonly stored: number }>(
    `SELECT number, stored FROM reposts
     WHERE platform = ? AND handle = ? AND post_id = ? AND post_handle = ?`,
  );
  return openPut(database, (of: StoredRepost) => {
    const { platform, handle, postHandle, postId, stored } = of;
    const key = `${platform} ${handle} ${postHandle} ${postId}`;
    const wanted = toNumber({ kind: 'repost', at: of.created, key });
    const row = [platform, handle, postHandle, postId, stored];
    // Most are new and their number is free: one statement finds that out and is done.
    if (insert.run(wanted, ...row).changes === 1) return;
    const before = current.get(platform, handle, postId, postHandle);
    if (before !== undefined && before.stored > stored) return;
    replace.run(settle(wanted, before?.number), ...row);
  });
}
