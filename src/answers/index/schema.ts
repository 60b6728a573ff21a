import type { Clock } from '../../core/clock.ts';
import type { Migration } from '../../core/files/sqlite.ts';
import type { RefreshSummary } from './index-refresher.ts';
import type { RefreshProgress } from './refresh.ts';

/** Version of the file analysis. Increase it when parsing changes, to rebuild older indexes. */
export const analysisVersion = 6;
/** Text fields of a passage, in the order of the columns of the table `passage_terms`. */
export const fields = ['title', 'trail', 'heading', 'body', 'code', 'names', 'defines'] as const;

export type Field = (typeof fields)[number];

const createTerms = (columns: string) => `
  CREATE VIRTUAL TABLE passage_terms USING fts5 (
    ${columns}, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0'
  );
  CREATE VIRTUAL TABLE vocabulary USING fts5vocab (passage_terms, 'row');
`;

export const migrations: readonly Migration[] = [
  (database) =>
    database.exec(`
      CREATE TABLE meta (analysis INTEGER NOT NULL);
      INSERT INTO meta (analysis) VALUES (${analysisVersion});
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
      -- Spellings of the words in passages, for correcting misspelt questions.
      CREATE TABLE spellings (word TEXT PRIMARY KEY) WITHOUT ROWID;
      -- Terms are already stemmed and separated by spaces: questions and texts use the same tokenizer.
      ${createTerms('title, trail, heading, body, code, names')}
    `),
  // Corpora for which the index was last completely built; empty if never.
  (database) => database.exec("ALTER TABLE meta ADD COLUMN built_for TEXT NOT NULL DEFAULT ''"),
  // Adds the column `defines`. The index is rebuilt, because `analysisVersion` has changed too.
  (database) =>
    database.exec(
      `DROP TABLE vocabulary; DROP TABLE passage_terms; ${createTerms(fields.join(', '))}`,
    ),
];

/** State of the search index for answers. Times are epoch milliseconds. */
export interface IndexState {
  /** Progress of the running update; `null` if no update is running. */
  readonly progress: RefreshProgress | null;
  /** Result of the last complete update; `null` before the first complete update. */
  readonly current: (RefreshSummary & { readonly atMs: number }) | null;
  /** Last error since the last complete update; `null` if there was no error. */
  readonly failure: { readonly message: string; readonly atMs: number } | null;
}

export type IndexRecord = ReturnType<typeof createIndexRecord>;

/** Creates a record of the state of the search index, with the callbacks that update the record. */
export function createIndexRecord(clock: Pick<Clock, 'now'>) {
  let state: IndexState = { progress: null, current: null, failure: null };
  return {
    read: (): IndexState => state,
    onProgress: (progress: RefreshProgress): void => {
      state = { ...state, progress };
    },
    onRefreshed: (summary: RefreshSummary): void => {
      state = { progress: null, current: { ...summary, atMs: clock.now() }, failure: null };
    },
    onError: (error: unknown): void => {
      const message = error instanceof Error ? error.message : String(error);
      state = { ...state, progress: null, failure: { message, atMs: clock.now() } };
    },
  };
}
