import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Platform } from '../../model/reference.ts';
import { openPostRemoval } from './post-versions.ts';

interface TypedPost {
  readonly platform: Platform;
  /** Lower-case handle of the author. */
  readonly handle: string;
  readonly id: string;
}

interface Repost {
  readonly platform: Platform;
  readonly handle: string;
  readonly postHandle: string;
  readonly postId: string;
}

/**
 * Returns functions for posts on X that start with `RT @…` and were typed by hand. In one export such a post looks like a
 * repost, in another one it has likes and is the account's own post. Ids are unique on X, so nobody can repost the post of
 * another account with the id of their own.
 */
export function openTypedPosts(database: SqliteDatabase) {
  const ofRepost = `platform = ? AND handle = ? AND post_id = ? AND post_handle <> handle`;
  const find = database.prepare<unknown[], { readonly author: string }>(
    `SELECT post_handle AS author FROM reposts WHERE ${ofRepost}`,
  );
  const forget = database.prepare(`DELETE FROM reposts WHERE ${ofRepost}`);
  const known = database.prepare(
    'SELECT 1 FROM posts WHERE platform = ? AND id = ? AND handle = ?',
  );
  const remove = openPostRemoval(database);
  return {
    /** Removes the repost for which a post was taken, and the post that it seemed to repost. */
    removeRepost: ({ platform, handle, id }: TypedPost): void => {
      if (platform !== 'x') return;
      const authors = find.all(platform, handle, id);
      if (authors.length === 0) return;
      forget.run(platform, handle, id);
      for (const { author } of authors) remove(platform, id, author);
    },
    /** Returns whether a repost is a post of the account. If so, removes the post that it seems to repost. */
    isTyped: ({ platform, handle, postHandle, postId }: Repost): boolean => {
      if (platform !== 'x' || handle === postHandle) return false;
      if (known.get(platform, postId, handle) === undefined) return false;
      remove(platform, postId, postHandle);
      return true;
    },
  };
}
