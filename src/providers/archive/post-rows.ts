import type { SqliteDatabase } from '../../core/sqlite.ts';
import type { Post } from '../../model/post.ts';
import type { Platform } from '../../model/reference.ts';
import { isSameSecond, nextNumber, toNumber } from './post-number.ts';
import { toPostWords } from './post-words.ts';
import type { Revive } from './stored-json.ts';

/** A post as it is kept. `handle` is lower case, and empty where a deleted post's is unknown. */
export interface StoredPost {
  readonly platform: Platform;
  readonly handle: string;
  readonly id: string;
  readonly parentId: string | null;
  /** Unix seconds; a fraction, in milliseconds, orders posts of one second. 0 where unknown. */
  readonly created: number;
  /** When it was put here or exported elsewhere, in Unix seconds. */
  readonly stored: number;
  readonly post: Post;
}

/** A post read back, with the id of the post that it answers. */
export interface ReadPost {
  readonly parentId: string | null;
  /** Unix seconds. */
  readonly stored: number;
  readonly post: Post;
}

/** The table of posts and the index of their words. Posts of protected accounts are not read. */
export interface PostRows {
  /** Adds a post, or replaces the one with its id. */
  putPost(stored: StoredPost): void;
  hasPost(platform: Platform, id: string): boolean;
  /** Gives a post by id; `handle` decides where several accounts use the same id. */
  readPost(platform: Platform, id: string, handle?: string): ReadPost | undefined;
  /** Gives the direct replies to a post, oldest first, at most 200. */
  readReplies(platform: Platform, id: string): readonly ReadPost[];
}

interface PostRow {
  readonly parent_id: string | null;
  readonly stored: number;
  readonly json: string;
}

/** Prepares what writes and reads posts. */
export function openPostRows(database: SqliteDatabase, revive: Revive): PostRows {
  const known = database.prepare('SELECT 1 FROM public_posts WHERE platform = ? AND id = ?');
  const one = database.prepare<unknown[], PostRow>(
    `SELECT parent_id, stored, json FROM public_posts WHERE platform = ? AND id = ?
     ORDER BY handle <> ? LIMIT 1`,
  );
  const replies = database.prepare<unknown[], PostRow>(
    `SELECT parent_id, stored, json FROM public_posts WHERE platform = ? AND parent_id = ?
     ORDER BY number LIMIT 200`,
  );
  const read = ({ parent_id: parentId, stored, json }: PostRow): ReadPost => ({
    parentId,
    stored,
    post: revive.post(json),
  });
  return {
    putPost: openPostWriter(database),
    hasPost: (platform, id) => known.get(platform, id) !== undefined,
    readPost: (platform, id, handle = '') => {
      const row = one.get(platform, id, handle);
      return row === undefined ? undefined : read(row);
    },
    readReplies: (platform, id) => replies.all(platform, id).map(read),
  };
}

function openPostWriter(database: SqliteDatabase): PostRows['putPost'] {
  const insert = database.prepare('INSERT OR REPLACE INTO posts VALUES (?,?,?,?,?,?,?,?,?,?)');
  const number = openNumbering(database);
  const forget = database.prepare('DELETE FROM post_words WHERE rowid = ?');
  const index = database.prepare(
    `INSERT OR REPLACE INTO post_words (rowid, text, author, tags, marks)
     VALUES (@number, @text, @author, @tags, @marks)`,
  );
  const put = database.transaction((stored: StoredPost) => {
    const { platform, handle, id, parentId, post } = stored;
    const numbers = number(stored);
    const kind = [Number(post.type === 'tombstone'), Number(answersOther(post)), scoreOf(post)];
    const json = JSON.stringify(post);
    insert.run(numbers.now, platform, handle, id, parentId, ...kind, stored.stored, json);
    if (numbers.before !== undefined) forget.run(numbers.before);
    if (post.type === 'status') index.run({ number: numbers.now, ...toPostWords(post) });
  });
  return (stored) => void put.immediate(stored);
}

/** Prepares what finds the number of a post: the one that it has, as long as its second is the same. */
function openNumbering(database: SqliteDatabase) {
  const taken = database.prepare('SELECT 1 FROM posts WHERE number = ?');
  const current = database
    .prepare<unknown[], number>(
      'SELECT number FROM posts WHERE platform = ? AND id = ? AND handle = ?',
    )
    .pluck();
  return ({ platform, handle, id, created }: StoredPost) => {
    const before = current.get(platform, id, handle);
    let now = toNumber({ kind: 'post', at: created, key: `${platform} ${handle} ${id}` });
    if (before !== undefined && isSameSecond(before, now)) return { before, now: before };
    while (taken.get(now) !== undefined) now = nextNumber(now);
    return { before, now };
  };
}

/** A reply whose addressee is unknown counts as one to another account. */
function answersOther(post: Post): boolean {
  if (post.type === 'tombstone' || post.replying_to === null) return false;
  return post.replying_to.screen_name?.toLowerCase() !== post.author.screen_name.toLowerCase();
}

function scoreOf(post: Post): number {
  return post.type === 'status' ? (post.likes ?? 0) + (post.reposts ?? 0) : 0;
}
