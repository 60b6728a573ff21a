-- Schema 1 of archive.db with test data, written in November 2026 for test/suites/schema-upgrades.test.ts.
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

INSERT INTO facts VALUES ('sample_version', '2'), ('other', 'kept');
INSERT INTO accounts VALUES ('sample', 'old.example', '{}');
INSERT INTO posts VALUES (1, 'sample', 'old.example', '1', NULL, 5, 5, '{}');
INSERT INTO post_words (rowid, text) VALUES (1, 'relic');
PRAGMA user_version = 1;
