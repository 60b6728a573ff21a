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
 * Returns functions for posts on X that start with `RT @…` but were typed by hand. One export shows
 * such a post as a repost, another as the account's own. Ids are unique on X, so an account never
 * reposts another's post with the id of its own.
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
    /** Returns whether it is a typed post; if so, removes the post that it seems to repost. */
    isTyped: ({ platform, handle, postHandle, postId }: Repost): boolean => {
      if (platform !== 'x' || handle === postHandle) return false;
      if (known.get(platform, postId, handle) === undefined) return false;
      remove(platform, postId, postHandle);
      return true;
    },
  };
}
