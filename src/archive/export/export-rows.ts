import type { SqliteDatabase } from '../../lib/files/sqlite.ts';
import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import type { AccountReference, Platform } from '../../model/reference.ts';
import type { ExportItem } from '../imports/export-source.ts';
import { timeOf } from '../store/post-number.ts';
import { parseStored } from '../store/stored-json.ts';

/** Item of the archive. `stored`: Unix second at which the platform provided the data. */
export type ArchivedItem = Exclude<ExportItem, { kind: 'skipped' | 'left-out' }> & {
  readonly stored: number;
};

interface PostRow {
  readonly number: number;
  readonly platform: Platform;
  readonly handle: string;
  readonly id: string;
  readonly parent_id: string | null;
  readonly stored: number;
  readonly json: string;
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

export function openExportRows(database: SqliteDatabase) {
  const account = database.prepare<unknown[], Pick<PostRow, 'stored' | 'json'>>(
    'SELECT stored, json FROM accounts WHERE platform = @platform AND handle = @handle',
  );
  const openPosts = (where: string) =>
    openPages<PostRow>(
      database,
      `SELECT number, platform, handle, id, parent_id, stored, json FROM posts
       WHERE number > @number AND ${where} ORDER BY number`,
    );
  const own = openPosts('platform = @platform AND handle = @handle');
  const reposted = openPosts(repostedPosts);
  const orphans = openPosts(orphanPosts);
  const reposts = openPages<RepostRow>(
    database,
    `SELECT number, post_handle, post_id, stored FROM reposts
     WHERE platform = @platform AND handle = @handle AND number > @number ORDER BY number`,
  );
  const follows = openPages<FollowRow>(
    database,
    `SELECT follower, followed, stored FROM follows
     WHERE platform = @platform AND (followed = @handle OR follower = @handle)
       AND (follower, followed) > (@follower, @followed) ORDER BY follower, followed`,
  );
  return {
    /** Yields an account with its posts, reposted posts, reposts and follows, even if protected. */
    *readAccountItems(of: AccountReference): Iterable<ArchivedItem> {
      const row = account.get(of);
      if (row === undefined) return;
      yield { kind: 'account', stored: row.stored, account: parseStored(row.json) as Account }; // written by `putAccount`
      for (const post of own(of)) yield toPost(post);
      for (const post of reposted(of)) yield toPost(post);
      for (const repost of reposts(of)) yield toRepost(repost, of);
      for (const follow of follows(of)) yield { kind: 'follow', ...follow };
    },
    /** Yields the posts that no archived account published or reposted. */
    *readOrphanPosts(): Iterable<ArchivedItem> {
      for (const post of orphans({ platform: 'x', handle: '' })) yield toPost(post);
    },
  };
}

const pageRows = 500;

function openPages<Row extends object>(database: SqliteDatabase, sql: string) {
  const next = database.prepare<unknown[], Row>(`${sql} LIMIT ${pageRows}`);
  const start = { number: -1, follower: '', followed: '' };
  return function* (of: AccountReference): Iterable<Row> {
    const readAfter = (last?: Row) => next.all({ ...start, ...last, ...of });
    for (let rows = readAfter(); rows.length > 0; rows = readAfter(rows.at(-1))) yield* rows;
  };
}

const repostedPosts = `handle <> @handle AND EXISTS (
  SELECT 1 FROM reposts WHERE reposts.platform = @platform AND reposts.handle = @handle
    AND posts.platform = @platform AND post_id = posts.id AND post_handle = posts.handle)`;

const orphanPosts = `platform <> 'sample' AND NOT EXISTS (
    SELECT 1 FROM accounts WHERE accounts.platform = posts.platform AND accounts.handle = posts.handle
  ) AND NOT EXISTS (
    SELECT 1 FROM reposts JOIN accounts USING (platform, handle)
    WHERE reposts.platform = posts.platform AND post_id = posts.id AND post_handle = posts.handle
  )`;

function toPost({ number, platform, handle, id, parent_id, stored, json }: PostRow): ArchivedItem {
  const created = timeOf(number, { kind: 'post', key: `${platform} ${handle} ${id}` });
  const post = parseStored(json) as Post; // written by `putPost`
  return { kind: 'post', stored, post, parentId: parent_id, created };
}

function toRepost(
  { number, post_handle, post_id, stored }: RepostRow,
  { platform, handle }: AccountReference,
): ArchivedItem {
  const key = `${platform} ${handle} ${post_handle} ${post_id}`;
  const created = timeOf(number, { kind: 'repost', key });
  return { kind: 'repost', stored, handle, postHandle: post_handle, postId: post_id, created };
}
