import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Post } from '../../model/post.ts';
import type { Platform } from '../../model/reference.ts';

interface VersionedPost {
  readonly platform: Platform;
  /** Lower-case handle of the author. */
  readonly handle: string;
  readonly id: string;
  readonly post: Post;
}

interface Current {
  readonly id: string;
  readonly handle: string;
}

/** Returns functions for edited X posts, of which only the last known version is stored. */
export function openPostVersions(database: SqliteDatabase) {
  const find = database.prepare<unknown[], Current>(
    `SELECT current AS id, handle FROM post_versions
     WHERE platform = ? AND id = ? ORDER BY handle <> ? LIMIT 1`,
  );
  const known = database.prepare(
    'SELECT 1 FROM post_versions WHERE platform = ? AND id = ? AND handle = ?',
  );
  const write = database.prepare('INSERT OR REPLACE INTO post_versions VALUES (?, ?, ?, ?)');
  const remove = openPostRemoval(database);
  return {
    isSuperseded: ({ platform, id, handle }: VersionedPost): boolean =>
      platform === 'x' && known.get(platform, id, handle) !== undefined,
    /** Removes the earlier versions of a post, and stores their ids. */
    supersede: ({ platform, id, handle, post }: VersionedPost): void => {
      for (const earlier of listEarlierIds(post)) {
        if (platform !== 'x' || earlier === id) continue;
        write.run(platform, earlier, handle, id);
        remove(platform, earlier, handle);
      }
    },
    /** Finds the last version by an earlier one's id, preferably by the author `handle`. */
    findCurrent: (platform: Platform, id: string, handle: string): Current | undefined =>
      find.get(platform, id, handle),
  };
}

export function openPostRemoval(database: SqliteDatabase) {
  const ofPost = 'platform = ? AND id = ? AND handle = ?';
  const removals = [
    `post_words WHERE rowid IN (SELECT number FROM posts WHERE ${ofPost})`,
    `posts WHERE ${ofPost}`,
  ].map((rows) => database.prepare(`DELETE FROM ${rows}`));
  return (platform: Platform, id: string, handle: string): void => {
    for (const removal of removals) removal.run(platform, id, handle);
  };
}

export const listEarlierIds = (post: Post): readonly string[] =>
  post.type === 'status' ? (post.earlier_versions ?? []).flatMap(({ id }) => id ?? []) : [];
