import type { SqliteDatabase } from '../../lib/files/sqlite.ts';
import { parseUrl } from '../../lib/http/url.ts';
import type { Account } from '../../model/account.ts';
import { parseFediversePost } from '../../model/addresses/address.ts';
import { nobodyOn } from '../../model/addresses/sites.ts';
import type { Post, Status } from '../../model/post.ts';
import type { Platform } from '../../model/reference.ts';
import { toPostWords } from '../search/words.ts';
import { openAtomicWriter, openNumberedWriter, toNumber } from './post-number.ts';
import type { RowDecoder } from './stored-json.ts';

export interface StoredPost {
  readonly platform: Platform;
  /** Lower-case handle of the author; empty if the author of a deleted post is unknown. */
  readonly handle: string;
  readonly id: string;
  readonly parentId: string | null;
  /** Unix second of the post; 0 if unknown. The fraction determines the order within a second. */
  readonly created: number;
  /** Unix second when the post was stored; if imported, when its export was made. */
  readonly stored: number;
  readonly post: Post;
}

/** Stored post. `parentId`: id of the post to which it replies; `null` if it is not a reply. */
export type ReadPost = Pick<StoredPost, 'parentId' | 'stored' | 'post'>;

export const maxDirectReplies = 200;

/** Returns functions that store and read posts, but never return those of protected accounts. */
export function openPostRows(database: SqliteDatabase, decoder: RowDecoder) {
  const known = database.prepare('SELECT 1 FROM public_posts WHERE platform = ? AND id = ?');
  const openSelect = (where: string) => {
    const select = database.prepare<unknown[], Omit<ReadPost, 'post'> & { readonly json: string }>(
      `SELECT parent_id AS parentId, stored, json FROM public_posts WHERE platform = ? AND ${where}`,
    );
    return (...values: readonly unknown[]): readonly ReadPost[] =>
      select.all(...values).map(({ json, ...row }) => ({ ...row, post: decoder.post(json) }));
  };
  const preferred = openSelect('id = ? ORDER BY handle <> ? LIMIT 1');
  const exact = openSelect('id = ? AND handle = ?');
  const all = openSelect('id = ? ORDER BY number');
  const replies = openSelect(`parent_id = ? ORDER BY number LIMIT ${maxDirectReplies}`);
  const { findCurrent } = openPostVersions(database);
  const readCurrent = (platform: Platform, id: string, handle: string): ReadPost | undefined => {
    const current = platform === 'x' ? findCurrent(platform, id, handle) : undefined;
    return current && exact(platform, current.id, current.handle)[0];
  };
  return {
    /** Replaces the post with the same author and id, unless the existing post is newer. */
    putPost: openPostWriter(database),
    hasPost: (platform: Platform, id: string): boolean =>
      known.get(platform, id) !== undefined || readCurrent(platform, id, '') !== undefined,
    /**
     * Returns a post by id, or by the id of an earlier version on X. On Bluesky and Mastodon, where
     * ids are not unique, the handle must match too: that of the author, or on Mastodon of the URL.
     */
    readPost: (platform: Platform, id: string, handle: string | null): ReadPost | undefined => {
      // URLs of X posts can contain a former handle of the author.
      const read = platform === 'bluesky' || platform === 'mastodon' ? exact : preferred;
      const [found] = read(platform, id, handle ?? '');
      if (found !== undefined) return found;
      if (platform !== 'mastodon') return readCurrent(platform, id, handle ?? '');
      return all(platform, id).find(({ post }) => handleInUrl(post.url) === handle);
    },
    readParent: ({ parentId, post }: ReadPost): ReadPost | undefined => {
      if (parentId === null) return undefined;
      const { platform } = post;
      const parent = all(platform, parentId).find((found) => isAnswered(found.post, post));
      return parent ?? readCurrent(platform, parentId, '');
    },
    /** Returns up to `maxDirectReplies` direct replies to a post, oldest first. */
    readReplies: (to: Post): readonly ReadPost[] => {
      const found: ReadPost[] = [];
      for (const id of [...listEarlierIds(to), to.id]) {
        for (const reply of replies(to.platform, id)) {
          if (isAnswered(to, reply.post)) found.push(reply);
        }
      }
      return found.slice(0, maxDirectReplies);
    },
  };
}

function openPostWriter(database: SqliteDatabase) {
  const key = ['platform', 'handle', 'id'];
  const write = openNumberedWriter(database, { table: 'posts', columns: 11, key });
  const forget = database.prepare('DELETE FROM post_words WHERE rowid = ?');
  const index = database.prepare(
    'INSERT INTO post_words (rowid, text, author, tags, marks) VALUES (?, ?, ?, ?, ?)',
  );
  const versions = openPostVersions(database);
  const typed = openTypedPosts(database);
  return openAtomicWriter(database, (row: StoredPost) => {
    const { platform, handle, id, stored, post } = row;
    if (versions.isSuperseded(row)) return;
    const wanted = toNumber({ kind: 'post', at: row.created, key: `${platform} ${handle} ${id}` });
    const written = write({ wanted, values: toValues(row), stored });
    if (written === undefined) return;
    if (written.replaced !== undefined) forget.run(written.replaced);
    versions.supersede(row);
    typed.removeRepost(row);
    if (post.type !== 'status') return;
    const { text, author, tags, marks } = toPostWords(post);
    index.run(written.number, text, author, tags, marks);
  });
}

function toValues({ platform, handle, id, parentId, stored, post }: StoredPost) {
  const isGone = Number(post.type === 'tombstone');
  const json = JSON.stringify(post);
  const score = post.type === 'status' ? (post.likes ?? 0) + (post.reposts ?? 0) : 0;
  const facts = [isGone, Number(answersOther(post)), score];
  const hasMedia = Number(post.type === 'status' && post.media.all.length > 0);
  return [platform, handle, id, parentId, ...facts, stored, json, hasMedia];
}

function answersOther(post: Post): boolean {
  if (post.type === 'tombstone' || post.replying_to === null) return false;
  return post.replying_to.screen_name?.toLowerCase() !== post.author.screen_name.toLowerCase();
}

/**
 * Returns whether `reply`, whose parent id is the id of `post`, replies to `post`. On X, on
 * ActivityPub and in the sample, ids are unique. On Bluesky, `reply` must also name the author of `post`. On Mastodon, it
 * must name that author, or have a parent URL on the host of `post`.
 */
function isAnswered(post: Post, reply: Post): boolean {
  switch (post.platform) {
    case 'x':
    case 'activitypub':
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

const targetOf = (reply: Post): Status['replying_to'] =>
  reply.type === 'status' ? reply.replying_to : null;

function isNamed(author: Account | null, name: string | null): boolean {
  if (author === null || name === null) return false;
  return [author.screen_name, author.id].some((own) => own?.toLowerCase() === name.toLowerCase());
}

function handleInUrl(url: string | null): string | null {
  const found = url === null ? null : parseFediversePost(url);
  const host = hostOf(url);
  return found === null || host === null ? null : (found.handle ?? nobodyOn(host));
}

const hostOf = (url: string | null): string | null =>
  url === null ? null : (parseUrl(url)?.host ?? null);

type Current = Pick<StoredPost, 'id' | 'handle'>;

function openPostVersions(database: SqliteDatabase) {
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
    isSuperseded: ({ platform, id, handle }: StoredPost): boolean =>
      platform === 'x' && known.get(platform, id, handle) !== undefined,
    /** Removes the earlier versions of a post, and stores their ids. */
    supersede: ({ platform, id, handle, post }: StoredPost): void => {
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

function openPostRemoval(database: SqliteDatabase) {
  const ofPost = 'platform = ? AND id = ? AND handle = ?';
  const removals = [
    `post_words WHERE rowid IN (SELECT number FROM posts WHERE ${ofPost})`,
    `posts WHERE ${ofPost}`,
  ].map((rows) => database.prepare(`DELETE FROM ${rows}`));
  return (platform: Platform, id: string, handle: string): void => {
    for (const removal of removals) removal.run(platform, id, handle);
  };
}

const listEarlierIds = (post: Post): readonly string[] =>
  post.type === 'status' ? (post.earlier_versions ?? []).flatMap(({ id }) => id ?? []) : [];

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
    removeRepost: ({ platform, handle, id }: StoredPost): void => {
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
