import { type Migration, openSqlite, type SqliteDatabase } from '../../core/sqlite.ts';
import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import type { Platform } from '../../model/reference.ts';
import { ownAddress } from './own-address.ts';

const migrations: readonly Migration[] = [
  (database) =>
    database.exec(`
      CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
      CREATE TABLE accounts (
        platform TEXT NOT NULL, handle TEXT NOT NULL, json TEXT NOT NULL,
        PRIMARY KEY (platform, handle)
      ) WITHOUT ROWID;
      CREATE TABLE posts (
        number INTEGER PRIMARY KEY,
        platform TEXT NOT NULL, handle TEXT NOT NULL, id TEXT NOT NULL,
        parent_id TEXT, created INTEGER NOT NULL, stored INTEGER NOT NULL, json TEXT NOT NULL,
        UNIQUE (platform, id, handle)
      );
      CREATE INDEX posts_by_parent ON posts (platform, parent_id, created);
      CREATE INDEX posts_by_account ON posts (platform, handle, created);
      CREATE TABLE follows (
        platform TEXT NOT NULL, follower TEXT NOT NULL, followed TEXT NOT NULL,
        PRIMARY KEY (platform, follower, followed)
      ) WITHOUT ROWID;
      CREATE INDEX follows_by_followed ON follows (platform, followed, follower);
      CREATE VIRTUAL TABLE post_words USING fts5(
        text, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 2"
      );
    `),
];

/** A post as it is kept. `handle` is lower case, and empty where a deleted post's is unknown. */
export interface StoredPost {
  readonly platform: Platform;
  readonly handle: string;
  readonly id: string;
  readonly parentId: string | null;
  /** Unix seconds. */
  readonly created: number;
  /** When it was put here or exported elsewhere, in Unix seconds. */
  readonly stored: number;
  readonly post: Post;
}

interface PostRow {
  readonly parent_id: string | null;
  readonly stored: number;
  readonly json: string;
}

/** A post read back, with the id of the post that it answers. */
export interface ReadPost {
  readonly parentId: string | null;
  /** Unix seconds. */
  readonly stored: number;
  readonly post: Post;
}

/** Which of the posts that a search finds are wanted. */
export interface SearchPage {
  readonly limit: number;
  readonly offset: number;
  /** Whether posts of the sample are among them. */
  readonly sample: boolean;
}

/** The archive's tables. Close it with `close()`. */
export interface ArchiveStore {
  /** Runs `write` in one transaction that no other process can interleave with. */
  transact(write: () => void): void;
  readFact(name: string): string | undefined;
  writeFact(name: string, value: string): void;
  putAccount(account: Account): void;
  /** Adds a post, or replaces the one with its id. */
  putPost(stored: StoredPost): void;
  putFollow(platform: Platform, follower: string, followed: string): void;
  removePlatform(platform: Platform): void;
  hasAccount(platform: Platform, handle: string): boolean;
  hasPost(platform: Platform, id: string): boolean;
  /** Gives a post by id; `handle` decides where several accounts use the same id. */
  readPost(platform: Platform, id: string, handle?: string): ReadPost | undefined;
  /** Gives the direct replies to a post, oldest first, at most 200. */
  readReplies(platform: Platform, id: string): readonly ReadPost[];
  /** Gives posts whose text has what an FTS5 expression asks for, newest first. */
  searchPosts(expression: string, page: SearchPage): readonly Post[];
  close(): void;
}

/**
 * Opens the archive's database and creates its tables where they are missing.
 *
 * @param baseUrl Perch's own address, put where stored JSON has the placeholder.
 * @throws Error when the file cannot be opened or was written by a newer version.
 */
export function openArchiveStore(path: string, baseUrl: string): ArchiveStore {
  const database = openSqlite({ path, migrations });
  return {
    transact: (write) => database.transaction(write).immediate(),
    close: () => database.close(),
    ...createWriter(database),
    ...createReader(database, baseUrl),
  };
}

type Writer = Pick<
  ArchiveStore,
  'writeFact' | 'putAccount' | 'putPost' | 'putFollow' | 'removePlatform'
>;

function createWriter(database: SqliteDatabase): Writer {
  const fact = database.prepare('INSERT OR REPLACE INTO facts VALUES (?, ?)');
  const account = database.prepare('INSERT OR REPLACE INTO accounts VALUES (?, ?, ?)');
  const follow = database.prepare('INSERT OR IGNORE INTO follows VALUES (?, ?, ?)');
  return {
    writeFact: (name, value) => void fact.run(name, value),
    putAccount: (of) =>
      void account.run(of.platform, of.screen_name.toLowerCase(), JSON.stringify(of)),
    putPost: createPostWriter(database),
    putFollow: (platform, follower, followed) => void follow.run(platform, follower, followed),
    removePlatform: (platform) => removePlatform(database, platform),
  };
}

function createPostWriter(database: SqliteDatabase): ArchiveStore['putPost'] {
  const post = database
    .prepare<unknown[], number>(
      `INSERT INTO posts (platform, handle, id, parent_id, created, stored, json)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (platform, id, handle) DO UPDATE
       SET parent_id = excluded.parent_id, created = excluded.created, stored = excluded.stored,
         json = excluded.json
       RETURNING number`,
    )
    .pluck();
  const words = database.prepare('INSERT OR REPLACE INTO post_words (rowid, text) VALUES (?, ?)');
  return (stored) => {
    const { platform, handle, id, parentId, created, stored: at } = stored;
    const json = JSON.stringify(stored.post);
    const number = post.get(platform, handle, id, parentId, created, at, json);
    if (stored.post.type === 'status') words.run(number, stored.post.text);
  };
}

function removePlatform(database: SqliteDatabase, platform: Platform): void {
  database
    .prepare('DELETE FROM post_words WHERE rowid IN (SELECT number FROM posts WHERE platform = ?)')
    .run(platform);
  for (const table of ['posts', 'accounts', 'follows']) {
    database.prepare(`DELETE FROM ${table} WHERE platform = ?`).run(platform);
  }
}

function createReader(
  database: SqliteDatabase,
  baseUrl: string,
): Omit<ArchiveStore, keyof Writer | 'transact' | 'close'> {
  const fact = database
    .prepare<unknown[], string>('SELECT value FROM facts WHERE name = ?')
    .pluck();
  const account = database.prepare('SELECT 1 FROM accounts WHERE platform = ? AND handle = ?');
  const known = database.prepare('SELECT 1 FROM posts WHERE platform = ? AND id = ?');
  const one = database.prepare<unknown[], PostRow>(
    `SELECT parent_id, stored, json FROM posts WHERE platform = ? AND id = ?
     ORDER BY handle <> ? LIMIT 1`,
  );
  const replies = database.prepare<unknown[], PostRow>(
    `SELECT parent_id, stored, json FROM posts WHERE platform = ? AND parent_id = ?
     ORDER BY created, id LIMIT 200`,
  );
  const found = database.prepare<unknown[], PostRow>(
    `SELECT parent_id, stored, json FROM post_words JOIN posts ON posts.number = post_words.rowid
     WHERE post_words MATCH ? AND (? OR platform <> 'sample') ORDER BY created DESC, number DESC LIMIT ? OFFSET ?`,
  );
  const read = (row: PostRow): ReadPost => ({
    parentId: row.parent_id,
    stored: row.stored,
    // Written by `putPost` from a Post, so it is one.
    post: JSON.parse(row.json.replaceAll(`"${ownAddress}/`, `"${baseUrl}/`)) as Post,
  });
  return {
    readFact: (name) => fact.get(name),
    hasAccount: (platform, handle) => account.get(platform, handle) !== undefined,
    hasPost: (platform, id) => known.get(platform, id) !== undefined,
    readPost: (platform, id, handle = '') => {
      const row = one.get(platform, id, handle);
      return row === undefined ? undefined : read(row);
    },
    readReplies: (platform, id) => replies.all(platform, id).map(read),
    searchPosts: (expression, page) =>
      found
        .all(expression, Number(page.sample), page.limit, page.offset)
        .map((row) => read(row).post),
  };
}
