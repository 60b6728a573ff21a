import type { Migration } from '../../lib/files/sqlite.ts';

/**
 * FTS5 tokenizer of the search indexes. Marks are part of words because the vowels of Hindi and
 * Thai are marks; `words.ts` removes those that do not distinguish words.
 */
const tokenizer = `unicode61 remove_diacritics 2 categories 'L* N* Co So Mn Mc'`;

/**
 * Migrations of the schema. The row id of a post or repost is its post number (`post-number.ts`),
 * which rises with time, so that queries read the newest posts first without sorting. In
 * `post_words`, the column `marks` contains a token for each search filter that the post matches.
 */
export const migrations: readonly Migration[] = [
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
  // Before this migration, archives contained only the built-in sample, which is stored again.
  (database) =>
    database.exec(`
      DROP TABLE accounts; DROP TABLE posts; DROP TABLE follows; DROP TABLE post_words;
      DELETE FROM facts WHERE name = 'sample_version';
      CREATE TABLE accounts (
        number INTEGER PRIMARY KEY,
        platform TEXT NOT NULL, handle TEXT NOT NULL, id TEXT NOT NULL,
        followers INTEGER NOT NULL, protected INTEGER NOT NULL, stored INTEGER NOT NULL,
        json TEXT NOT NULL,
        UNIQUE (platform, handle)
      );
      CREATE INDEX accounts_by_id ON accounts (platform, id);
      CREATE INDEX accounts_protected ON accounts (platform, handle) WHERE protected = 1;
      CREATE VIRTUAL TABLE account_words USING fts5(
        words, marks, content='', contentless_delete=1, prefix='2 3', tokenize="${tokenizer}"
      );
      CREATE TABLE posts (
        number INTEGER PRIMARY KEY,
        platform TEXT NOT NULL, handle TEXT NOT NULL, id TEXT NOT NULL, parent_id TEXT,
        gone INTEGER NOT NULL, answers_other INTEGER NOT NULL, score INTEGER NOT NULL,
        stored INTEGER NOT NULL, json TEXT NOT NULL,
        UNIQUE (platform, id, handle)
      );
      CREATE INDEX posts_by_parent ON posts (platform, parent_id) WHERE parent_id IS NOT NULL;
      CREATE INDEX posts_by_account ON posts (platform, handle) WHERE gone = 0;
      CREATE INDEX posts_without_replies ON posts (platform, handle)
        WHERE gone = 0 AND answers_other = 0;
      -- The first condition is evaluated once per statement and spares most archives the second one.
      CREATE VIEW public_posts AS SELECT * FROM posts WHERE
        NOT EXISTS (SELECT 1 FROM accounts WHERE protected = 1) OR NOT EXISTS (
          SELECT 1 FROM accounts WHERE accounts.platform = posts.platform
            AND accounts.handle = posts.handle AND accounts.protected = 1
        );
      CREATE VIRTUAL TABLE post_words USING fts5(
        text, author, tags, marks, content='', contentless_delete=1, tokenize="${tokenizer}"
      );
      CREATE TABLE reposts (
        number INTEGER PRIMARY KEY,
        platform TEXT NOT NULL, handle TEXT NOT NULL,
        post_handle TEXT NOT NULL, post_id TEXT NOT NULL, stored INTEGER NOT NULL,
        UNIQUE (platform, handle, post_id, post_handle)
      );
      CREATE INDEX reposts_by_account ON reposts (platform, handle) WHERE post_handle <> handle;
      CREATE TABLE follows (
        platform TEXT NOT NULL, follower TEXT NOT NULL, followed TEXT NOT NULL,
        stored INTEGER NOT NULL,
        PRIMARY KEY (platform, follower, followed)
      ) WITHOUT ROWID;
      CREATE INDEX follows_by_followed ON follows (platform, followed, follower);
    `),
  (database) =>
    database.exec(`
      CREATE TABLE imports (
        number INTEGER PRIMARY KEY,
        fingerprint TEXT NOT NULL UNIQUE, title TEXT NOT NULL, name TEXT NOT NULL,
        exported INTEGER NOT NULL, begun INTEGER NOT NULL, updated INTEGER NOT NULL,
        done INTEGER NOT NULL, items INTEGER NOT NULL, counts TEXT NOT NULL
      );
      CREATE TABLE import_accounts (
        platform TEXT NOT NULL, handle TEXT NOT NULL, import INTEGER NOT NULL,
        PRIMARY KEY (platform, handle, import)
      ) WITHOUT ROWID;
      -- Finds other reposters of a post when an account is removed.
      CREATE INDEX reposts_by_post ON reposts (platform, post_id, post_handle);
    `),
  // Fetched timelines have their own tables, because their accounts are not archived.
  (database) =>
    database.exec(`
      CREATE TABLE kept_ranges (
        platform TEXT NOT NULL, handle TEXT NOT NULL,
        with_replies INTEGER NOT NULL, with_reposts INTEGER NOT NULL,
        from_second INTEGER NOT NULL, to_second INTEGER NOT NULL,
        account_id TEXT NOT NULL,
        PRIMARY KEY (platform, handle, with_replies, with_reposts, from_second)
      ) WITHOUT ROWID;
      CREATE TABLE kept_posts (
        number INTEGER PRIMARY KEY,
        platform TEXT NOT NULL, handle TEXT NOT NULL, key TEXT NOT NULL, author TEXT NOT NULL,
        repost INTEGER NOT NULL, answers_other INTEGER NOT NULL,
        second INTEGER NOT NULL, below_second INTEGER NOT NULL, place INTEGER NOT NULL,
        stored INTEGER NOT NULL, json TEXT NOT NULL,
        UNIQUE (platform, handle, key, repost)
      );
      CREATE INDEX kept_posts_by_place ON kept_posts (platform, handle, second, place);
      -- A deleted post is removed from every history that contains it.
      CREATE INDEX kept_posts_by_key ON kept_posts (platform, key);
      CREATE INDEX kept_posts_by_author ON kept_posts (platform, author);
    `),
  // Files are named in the export, so a reference exists before the file is stored, and also
  // without the file.
  (database) =>
    database.exec(`
      CREATE TABLE media_copies (
        hash TEXT PRIMARY KEY, bytes INTEGER NOT NULL, type TEXT NOT NULL
      ) WITHOUT ROWID;
      CREATE TABLE media_references (
        platform TEXT NOT NULL, handle TEXT NOT NULL, url TEXT NOT NULL,
        author TEXT NOT NULL, name TEXT NOT NULL, hash TEXT,
        PRIMARY KEY (platform, handle, url)
      ) WITHOUT ROWID;
      CREATE INDEX media_references_by_name ON media_references (platform, handle, name);
      CREATE INDEX media_references_by_url ON media_references (url) WHERE hash IS NOT NULL;
      CREATE INDEX media_references_by_hash ON media_references (hash) WHERE hash IS NOT NULL;
      -- Neither the account whose export contained the file nor the author of the post is protected.
      CREATE VIEW public_media AS SELECT url, hash FROM media_references WHERE hash IS NOT NULL
        AND NOT EXISTS (
          SELECT 1 FROM accounts WHERE accounts.platform = media_references.platform
            AND accounts.handle IN (media_references.handle, media_references.author)
            AND accounts.protected = 1
        );
    `),
  (database) =>
    database.exec(`
      -- Ids of the earlier versions of edited posts, with the id of the last version.
      CREATE TABLE post_versions (
        platform TEXT NOT NULL, id TEXT NOT NULL, handle TEXT NOT NULL, current TEXT NOT NULL,
        PRIMARY KEY (platform, id, handle)
      ) WITHOUT ROWID;
    `),
  // Conditions of timelines, which are read without a look at each row.
  (database) =>
    database.exec(`
      ALTER TABLE posts ADD COLUMN has_media INTEGER NOT NULL DEFAULT 0;
      UPDATE posts SET has_media = 1
        WHERE number IN (SELECT rowid FROM post_words WHERE post_words MATCH 'marks : "media"');
      CREATE INDEX posts_with_media ON posts (platform, handle) WHERE gone = 0 AND has_media = 1;
      CREATE INDEX posts_only_replies ON posts (platform, handle)
        WHERE gone = 0 AND answers_other = 1;
    `),
];
