import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Status } from '../../model/post.ts';
import type { AccountReference } from '../../model/reference.ts';
import { currentHandle } from '../store/account-rows.ts';
import { secondOf } from '../store/post-number.ts';
import type { RowDecoder } from '../store/stored-json.ts';

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
