import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import type { AccountReference, Platform } from '../../model/reference.ts';
import type { ExportItem } from '../imports/export-source.ts';
import { timeOf } from '../store/post-number.ts';
import { parseStored } from '../store/stored-json.ts';

/** What the archive gives back of what it holds. */
export type HeldItem = Exclude<ExportItem, { kind: 'skipped' }> & { readonly stored: number };

/** Reads what the archive holds, as it was imported. */
export interface ExportRows {
  /**
   * Gives an account that is held and all that belongs to it: its posts and those that it passed on,
   * its reposts, who follows it and whom it follows. Also where it is protected: it is for whoever
   * owns the archive.
   */
  readHeld(account: AccountReference): Iterable<HeldItem>;
  /** Gives the posts that belong to no account that is held. */
  readOthers(): Iterable<HeldItem>;
}

/** How many rows are read at once. */
const page = 500;

interface AccountRow {
  readonly stored: number;
  readonly json: string;
}

interface PostRow extends AccountRow {
  readonly number: number;
  readonly platform: Platform;
  readonly handle: string;
  readonly id: string;
  readonly parent_id: string | null;
}

interface RepostRow {
  readonly number: number;
  readonly post_handle: string;
  readonly post_id: string;
  readonly stored: number;
}

interface FollowRow {
  readonly follower: string;
  readonly followed: string;
  readonly stored: number;
}

/** Prepares what reads everything back. */
export function openExportRows(database: SqliteDatabase): ExportRows {
  const account = database.prepare<unknown[], AccountRow>(
    'SELECT stored, json FROM accounts WHERE platform = @platform AND handle = @handle',
  );
  const own = openPosts(database, 'platform = @platform AND handle = @handle');
  const passedOn = openPosts(database, passedOnPosts);
  const others = openPosts(database, otherPosts);
  const reposts = openReposts(database);
  const follows = openFollows(database);
  return {
    *readHeld(of) {
      const row = account.get(of);
      if (row === undefined) return;
      yield { kind: 'account', stored: row.stored, account: parseStored(row.json) as Account }; // written by `putAccount`
      yield* own(of);
      yield* passedOn(of);
      yield* reposts(of);
      yield* follows(of);
    },
    readOthers: () => others({ platform: 'x', handle: '' }),
  };
}

const passedOnPosts = `handle <> @handle AND EXISTS (
  SELECT 1 FROM reposts WHERE reposts.platform = @platform AND reposts.handle = @handle
    AND posts.platform = @platform AND post_id = posts.id AND post_handle = posts.handle)`;

const otherPosts = `platform <> 'sample' AND NOT EXISTS (
    SELECT 1 FROM accounts WHERE accounts.platform = posts.platform AND accounts.handle = posts.handle
  ) AND NOT EXISTS (
    SELECT 1 FROM reposts JOIN accounts USING (platform, handle)
    WHERE reposts.platform = posts.platform AND post_id = posts.id AND post_handle = posts.handle
  )`;

function openPosts(database: SqliteDatabase, where: string) {
  const next = database.prepare<unknown[], PostRow>(
    `SELECT number, platform, handle, id, parent_id, stored, json FROM posts
     WHERE number > @after AND ${where} ORDER BY number LIMIT ${page}`,
  );
  return function* (of: AccountReference): Iterable<HeldItem> {
    const rows = (after: number) => next.all({ ...of, after });
    for (let some = rows(-1); some.length > 0; some = rows(some.at(-1)?.number ?? 0)) {
      for (const row of some) yield toPost(row);
    }
  };
}

function toPost({ number, platform, handle, id, parent_id, stored, json }: PostRow): HeldItem {
  const created = timeOf(number, { kind: 'post', key: `${platform} ${handle} ${id}` });
  const post = parseStored(json) as Post; // written by `putPost`
  return { kind: 'post', stored, post, parentId: parent_id, created };
}

function openReposts(database: SqliteDatabase) {
  const next = database.prepare<unknown[], RepostRow>(
    `SELECT number, post_handle, post_id, stored FROM reposts
     WHERE platform = @platform AND handle = @handle AND number > @after
     ORDER BY number LIMIT ${page}`,
  );
  return function* (of: AccountReference): Iterable<HeldItem> {
    const rows = (after: number) => next.all({ ...of, after });
    for (let some = rows(-1); some.length > 0; some = rows(some.at(-1)?.number ?? 0)) {
      for (const row of some) yield toRepost(row, of);
    }
  };
}

function toRepost(
  { number, post_handle, post_id, stored }: RepostRow,
  { platform, handle }: AccountReference,
): HeldItem {
  const key = `${platform} ${handle} ${post_handle} ${post_id}`;
  const created = timeOf(number, { kind: 'repost', key });
  return { kind: 'repost', stored, handle, postHandle: post_handle, postId: post_id, created };
}

function openFollows(database: SqliteDatabase) {
  const next = database.prepare<unknown[], FollowRow>(
    `SELECT follower, followed, stored FROM follows
     WHERE platform = @platform AND (followed = @handle OR follower = @handle)
       AND (follower, followed) > (@follower, @followed)
     ORDER BY follower, followed LIMIT ${page}`,
  );
  return function* (of: AccountReference): Iterable<HeldItem> {
    const rows = (after: { follower: string; followed: string }) =>
      next.all({ ...of, follower: after.follower, followed: after.followed });
    let last: { follower: string; followed: string } = { follower: '', followed: '' };
    for (let some = rows(last); some.length > 0; some = rows(last)) {
      for (const row of some) yield { kind: 'follow', ...row };
      last = some.at(-1) ?? last;
    }
  };
}
