import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { parseUrl } from '../../core/http/url.ts';
import type { Account } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';
import type { Platform } from '../../model/reference.ts';
import { toPostWords } from '../search/post-words.ts';
import { openNumbering } from './numbering.ts';
import { toNumber } from './post-number.ts';
import { openPut } from './put.ts';
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

/** Maximum number of direct replies to a post that are read. */
export const maxDirectReplies = 200;

/** The table of posts and the index of their words. Posts of protected accounts are not read. */
export interface PostRows {
  /** Adds a post, or replaces the one with its id unless that one was stored later. */
  putPost(stored: StoredPost): void;
  hasPost(platform: Platform, id: string): boolean;
  /**
   * Gives a post by id. On Bluesky and Mastodon, where several accounts can use the same id, it is that
   * of the account with this handle and of no other.
   */
  readPost(platform: Platform, id: string, handle: string | null): ReadPost | undefined;
  /** Gives the post that a reply answers. */
  readParent(reply: ReadPost): ReadPost | undefined;
  /** Returns the direct replies to a post, oldest first, at most `maxDirectReplies`. */
  readReplies(to: Post): readonly ReadPost[];
}

interface PostRow {
  readonly parent_id: string | null;
  readonly stored: number;
  readonly json: string;
}

/** Prepares what writes and reads posts. */
export function openPostRows(database: SqliteDatabase, revive: Revive): PostRows {
  const known = database.prepare('SELECT 1 FROM public_posts WHERE platform = ? AND id = ?');
  const select = (where: string) =>
    database.prepare<unknown[], PostRow>(
      `SELECT parent_id, stored, json FROM public_posts WHERE platform = ? AND id = ? ${where}`,
    );
  const preferred = select('ORDER BY handle <> ? LIMIT 1');
  const exact = select('AND handle = ?');
  const all = select('ORDER BY number');
  const replies = database.prepare<unknown[], PostRow>(
    `SELECT parent_id, stored, json FROM public_posts WHERE platform = ? AND parent_id = ?
     ORDER BY number LIMIT ${maxDirectReplies}`,
  );
  const read = ({ parent_id: parentId, stored, json }: PostRow): ReadPost => ({
    parentId,
    stored,
    post: revive.post(json),
  });
  return {
    putPost: openPostWriter(database),
    hasPost: (platform, id) => known.get(platform, id) !== undefined,
    readPost: (platform, id, handle) => {
      // A handle in an address of X may be an old one.
      const one = platform === 'x' || platform === 'sample' ? preferred : exact;
      const row = one.get(platform, id, handle ?? '');
      return row === undefined ? undefined : read(row);
    },
    readParent: ({ parentId, post }) =>
      parentId === null
        ? undefined
        : all
            .all(post.platform, parentId)
            .map(read)
            .find((parent) => isAnswered(parent.post, post)),
    readReplies: (to) =>
      replies
        .all(to.platform, to.id)
        .map(read)
        .filter((reply) => isAnswered(to, reply.post)),
  };
}

function openPostWriter(database: SqliteDatabase): PostRows['putPost'] {
  const columns = 'VALUES (?,?,?,?,?,?,?,?,?,?)';
  const insert = database.prepare(`INSERT OR IGNORE INTO posts ${columns}`);
  const replace = database.prepare(`INSERT OR REPLACE INTO posts ${columns}`);
  const current = database.prepare<unknown[], CurrentRow>(
    'SELECT number, stored FROM posts WHERE platform = ? AND id = ? AND handle = ?',
  );
  const settle = openNumbering(database, 'posts');
  const forget = database.prepare('DELETE FROM post_words WHERE rowid = ?');
  const index = database.prepare(
    'INSERT INTO post_words (rowid, text, author, tags, marks) VALUES (?, ?, ?, ?, ?)',
  );
  const addWords = (number: number, { post }: StoredPost) => {
    if (post.type !== 'status') return;
    const { text, author, tags, marks } = toPostWords(post);
    index.run(number, text, author, tags, marks);
  };
  return openPut(database, (stored: StoredPost) => {
    const wanted = numberOf(stored);
    const row = toRow(stored);
    // Most posts are new and their number is free: one statement finds that out and is done.
    if (insert.run(wanted, ...row).changes === 1) return addWords(wanted, stored);
    const before = current.get(stored.platform, stored.id, stored.handle);
    if (before !== undefined && before.stored > stored.stored) return;
    const number = settle(wanted, before?.number);
    replace.run(number, ...row);
    if (before !== undefined) forget.run(before.number);
    addWords(number, stored);
  });
}

function numberOf({ platform, handle, id, created }: StoredPost): number {
  return toNumber({ kind: 'post', at: created, key: `${platform} ${handle} ${id}` });
}

/** Gives the columns after the number. */
function toRow({ platform, handle, id, parentId, stored, post }: StoredPost) {
  const [isGone, isAnswer] = [Number(post.type === 'tombstone'), Number(answersOther(post))];
  return [
    platform,
    handle,
    id,
    parentId,
    isGone,
    isAnswer,
    scoreOf(post),
    stored,
    JSON.stringify(post),
  ];
}

interface CurrentRow {
  readonly number: number;
  readonly stored: number;
}

/** A reply whose addressee is unknown counts as one to another account. */
function answersOther(post: Post): boolean {
  if (post.type === 'tombstone' || post.replying_to === null) return false;
  return post.replying_to.screen_name?.toLowerCase() !== post.author.screen_name.toLowerCase();
}

function scoreOf(post: Post): number {
  return post.type === 'status' ? (post.likes ?? 0) + (post.reposts ?? 0) : 0;
}

/**
 * Tells whether a post is the one that a reply answers, where the reply names its id. On X and in the
 * sample an id is enough. Bluesky's are unique for an account, and the reply names the account by handle
 * or by id; Mastodon's are unique for a server.
 */
function isAnswered(post: Post, reply: Post): boolean {
  switch (post.platform) {
    case 'x':
    case 'sample':
      return true;
    case 'bluesky':
      return isNamed(post.author, targetOf(reply)?.screen_name ?? null);
    case 'mastodon': {
      const target = targetOf(reply);
      const host = hostOf(target?.url ?? null);
      if (host !== null && host === hostOf(post.url)) return true;
      return isNamed(post.author, target?.screen_name ?? null);
    }
  }
}

/** What stands for a lost post does not say whom it answered. */
function targetOf(reply: Post): Status['replying_to'] {
  return reply.type === 'status' ? reply.replying_to : null;
}

function isNamed(author: Account | null, name: string | null): boolean {
  if (author === null || name === null) return false;
  return [author.screen_name, author.id].some((own) => own?.toLowerCase() === name.toLowerCase());
}

function hostOf(url: string | null): string | null {
  return url === null ? null : (parseUrl(url)?.host ?? null);
}
