import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Status } from '../../model/post.ts';
import type { AccountReference } from '../../model/reference.ts';
import { currentHandle } from '../store/account-rows.ts';
import { secondOf } from '../store/post-number.ts';
import type { Revive } from '../store/stored-json.ts';

export interface HistoryPost {
  /** Rises with the time. */
  readonly number: number;
  /** When it was made, in Unix seconds. */
  readonly created: number;
  /** When it was put here or exported elsewhere, in Unix seconds. */
  readonly stored: number;
  /** Whether it goes on from an earlier post of the same account that the archive holds. */
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

/** Elsewhere the post of somebody else that is answered can have the id of one's own. */
const answersOwn = `(posts.platform IN ('x', 'sample') OR posts.answers_other = 0)`;

/** Prepares what reads all that an account posted, oldest first, page by page. What is gone is left out. */
export function openHistories(database: SqliteDatabase, revive: Revive) {
  // A parent is an earlier post: so no two posts can each go on from the other.
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
  // Named, because SQLite would rather go through all posts of the account, for each of them.
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
    post: revive.post(json) as Status, // rows that are not gone are posts
  });
  return {
    /** Reads the posts after a number, at most so many; from the first one after -1. */
    readHistory: ({ platform, handle }: AccountReference, after: number, count: number) =>
      posts.all(platform, handle, after, count).map(toPost),
    /** Reads the account's own replies to one of its posts, oldest first. */
    readContinuations: ({ platform, handle }: AccountReference, { number, post }: HistoryPost) =>
      continuations.all(platform, post.id, handle, number).map(toPost),
    /**
     * Reads the reposts of posts of others after a number, at most so many; `created` is when they were passed on. `post` is
     * null if the archive does not hold it, or its author is protected.
     */
    readReposts: ({ platform, handle }: AccountReference, after: number, count: number) =>
      reposts.all(platform, handle, after, count).map((row) => ({
        number: row.number,
        created: secondOf(row.number),
        postHandle: row.post_handle,
        postId: row.post_id,
        post: row.json === null ? null : (revive.post(row.json) as Status), // not gone either
      })),
  };
}
