-- Schema 3 of answers.db with test data, written in November 2026 for test/suites/schema-upgrades.test.ts.
CREATE TABLE meta (analysis INTEGER NOT NULL, built_for TEXT NOT NULL DEFAULT '');
CREATE TABLE files (
        id INTEGER PRIMARY KEY, corpus TEXT NOT NULL, path TEXT NOT NULL,
        bytes INTEGER NOT NULL, modified_ms REAL NOT NULL, hash TEXT NOT NULL,
        title TEXT NOT NULL, lead TEXT NOT NULL,
        UNIQUE (corpus, path)
      );
CREATE TABLE passages (
        id INTEGER PRIMARY KEY,
        file INTEGER NOT NULL REFERENCES files (id),
        heading TEXT NOT NULL, trail TEXT NOT NULL,
        line INTEGER NOT NULL, end_line INTEGER NOT NULL,
        words INTEGER NOT NULL, terms TEXT NOT NULL, blocks TEXT NOT NULL
      );
CREATE INDEX passages_of_file ON passages (file);
CREATE INDEX passages_by_words ON passages (words);
CREATE TABLE spellings (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE passage_terms USING fts5 (
        title, trail, heading, body, code, names, defines, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0'
      );
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (passage_terms, 'row');

INSERT INTO meta (analysis, built_for) VALUES (6, 'docs');
INSERT INTO files VALUES (1, 'docs', 'start.md', 10, 1.5, 'hash', 'Start', '');
INSERT INTO passages VALUES (1, 1, 'Start', '[]', 1, 2, 3, '{}', '[]');
INSERT INTO spellings VALUES ('start');
INSERT INTO passage_terms (rowid, title, trail, heading, body, code, names, defines) VALUES (1, 'start', '', 'start', 'run perch', '', '', '');
PRAGMA user_version = 3;
