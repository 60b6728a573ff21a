import { rmSync } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import {
  errorCodeOf,
  type Migration,
  openStore,
  type SqliteDatabase,
  UnusableFileError,
} from '../../lib/files/sqlite.ts';
import { type Corpus, keyOf } from '../corpus/corpus.ts';
import type { AnswersOptions } from '../open-answers.ts';
import type { Block } from '../readers/section.ts';
import { toStem } from '../text/words.ts';
import type { RefreshSummary } from './index-refresher.ts';
import type { RefreshProgress } from './refresh.ts';
import { type AnalysedFile, type FieldTerms, spellingsOf, unpackTerms } from './refresh.ts';

type IndexedFile = Readonly<{ id: number; bytes: number; modifiedMs: number; hash: string }>;

/** Passage with its file and terms. `lead`: terms of the introductory text of the file. */
export interface FoundPassage {
  readonly id: number;
  readonly file: number;
  readonly corpus: string;
  readonly path: string;
  /** Title of the file. It is empty if the file has no title. */
  readonly title: string;
  readonly heading: string;
  readonly line: number;
  readonly endLine: number;
  readonly trail: readonly string[];
  readonly terms: FieldTerms;
  readonly lead: readonly string[];
}

type PassageRow = Omit<FoundPassage, Packed> & Readonly<Record<Packed, string>>;
type Packed = 'trail' | 'terms' | 'lead';

/** Full-text index of passages. The caller must close the index. */
export type PassageIndex = ReturnType<typeof createPassageIndex>;

/** Opens an index or `:memory:`. Replaces an unusable file, because the index can be rebuilt. */
export function openPassageIndex(path: string): PassageIndex {
  const open = () => openStore({ path, migrations }, createPassageIndex);
  try {
    return open();
  } catch (error) {
    const isDamaged = /^SQLITE_(?:NOTADB|CORRUPT)/.test(errorCodeOf(error) ?? '');
    const isUnusable = error instanceof UnusableFileError || isDamaged;
    if (!isUnusable || path === ':memory:') throw error;
    for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`, { force: true });
    return open();
  }
}

function createPassageIndex(database: SqliteDatabase) {
  const analysis = database.prepare<[], number>('SELECT analysis FROM meta').pluck().get();
  if (analysis !== analysisVersion) clear(database);
  const files = createFileQueries(database);
  const words = createWordQueries(database);
  return {
    ...files,
    ...createPassageQueries(database),
    ...words,
    ...createChanges(database, { ...files, ...words }),
    /** Runs a function in a read transaction, isolated from writes of other connections. */
    inSnapshot: <Found>(look: () => Found): Found => database.transaction(look).deferred(),
    close: () => void database.close(),
  };
}

function clear(database: SqliteDatabase): void {
  database.exec(`
    BEGIN IMMEDIATE;
    INSERT INTO passage_terms (passage_terms) VALUES ('delete-all');
    DELETE FROM passages;
    DELETE FROM files;
    DELETE FROM spellings;
    UPDATE meta SET analysis = ${analysisVersion}, built_for = '';
    COMMIT;
  `);
}

function createFileQueries(database: SqliteDatabase) {
  const builtFor = database.prepare<[], string>('SELECT built_for FROM meta').pluck();
  const build = database.prepare<[string]>('UPDATE meta SET built_for = ?');
  const file = database.prepare<[string, string], IndexedFile>(
    'SELECT id, bytes, modified_ms AS modifiedMs, hash FROM files WHERE corpus = ? AND path = ?',
  );
  const fileIds = database.prepare<[], number>('SELECT id FROM files').pluck();
  const totals = database.prepare<[], { files: number; passages: number; meanWords: number }>(
    `SELECT (SELECT count(*) FROM files) AS files, count(*) AS passages,
       coalesce(avg(words), 0) AS meanWords FROM passages`,
  );
  const written = database.prepare<[], number>('SELECT total_changes()').pluck();
  const writtenElsewhere = database.prepare<[], number>('PRAGMA data_version').pluck();
  const isBuiltFor = (corpora: readonly Corpus[]) => builtFor.get() === toBuildKey(corpora);
  return {
    /** Returns whether exactly the given corpora are indexed, also by an earlier process. */
    isBuiltFor,
    noteBuilt: (corpora: readonly Corpus[]) => {
      if (!isBuiltFor(corpora)) build.run(toBuildKey(corpora));
    },
    file: (corpus: string, path: string) => file.get(corpus, path),
    fileIds: () => fileIds.all(),
    totals: () => totals.get() ?? { files: 0, passages: 0, meanWords: 0 },
    /** Returns a text that changes after each write to the index by this or another connection. */
    revision: () => `${written.get()}/${writtenElsewhere.get()}`,
  };
}

function toBuildKey(corpora: readonly Corpus[]): string {
  return JSON.stringify(corpora.map(keyOf));
}

const fieldsAbove: readonly Field[] = ['title', 'trail', 'heading', 'names'];

const filters = { anywhere: '', above: `{${fieldsAbove.join(' ')}} : `, defines: 'defines : ' };

function createPassageQueries(database: SqliteDatabase) {
  const postings = database
    .prepare<[string], number>('SELECT rowid FROM passage_terms WHERE passage_terms MATCH ?')
    .pluck();
  const span = database.prepare<[], number>('SELECT max(id) FROM passages').pluck();
  const passage = database.prepare<[number], PassageRow>(
    `SELECT p.id, p.file, f.corpus, f.path, f.title, f.lead, p.heading, p.trail, p.line,
       p.end_line AS endLine, p.terms
     FROM passages p JOIN files f ON f.id = p.file WHERE p.id = ?`,
  );
  const blocks = database
    .prepare<[number], string>('SELECT blocks FROM passages WHERE id = ?')
    .pluck();
  return {
    /** Returns the ids of passages with a term: `anywhere`, in headings and names, or defined. */
    postings: (term: string, where: keyof typeof filters): readonly number[] => {
      const plain = term.replaceAll(/[^\p{L}\p{N}]/gu, '');
      if (plain === '') return [];
      return postings.all(`${filters[where]}"${plain}"`);
    },
    /** Returns an upper bound of the passage ids. All ids are less than this number. */
    span: () => (span.get() ?? 0) + 1,
    passage: (id: number): FoundPassage | undefined => {
      const row = passage.get(id);
      if (row === undefined) return undefined;
      const { terms, trail, lead } = row;
      const lists = { terms: unpackTerms(terms), lead: lead.split(' '), trail: JSON.parse(trail) };
      return { ...row, ...lists };
    },
    blocks: (id: number): readonly Block[] => JSON.parse(blocks.get(id) ?? '[]'),
  };
}

function createWordQueries(database: SqliteDatabase) {
  const count = database
    .prepare<[string], number>('SELECT doc FROM vocabulary WHERE term = ?')
    .pluck();
  const words = database
    .prepare<[string, string, number, number], string>(
      'SELECT word FROM spellings WHERE word >= ? AND word < ? AND length(word) BETWEEN ? AND ?',
    )
    .pluck();
  return {
    passagesWith: (term: string) => count.get(term) ?? 0,
    /** Returns indexed words that begin with `start`, of `shortest` to `longest` characters. */
    wordsLike: (start: string, shortest: number, longest: number) =>
      words.all(start, `${start}\u{10ffff}`, shortest, longest),
  };
}

type Queries = ReturnType<typeof createFileQueries> & ReturnType<typeof createWordQueries>;

function createChanges(database: SqliteDatabase, { file: fileAt, passagesWith }: Queries) {
  const add = createAdd(database);
  const drop = createDrop(database);
  const touch = database.prepare<[number, number]>('UPDATE files SET modified_ms = ? WHERE id = ?');
  const dropWord = database.prepare<[string]>('DELETE FROM spellings WHERE word = ?');
  const change = <Result>(run: (unusedWords: Set<string>) => Result): Result =>
    database
      .transaction(() => {
        const unusedWords = new Set<string>();
        const result = run(unusedWords);
        for (const word of unusedWords) if (passagesWith(toStem(word)) === 0) dropWord.run(word);
        return result;
      })
      .immediate();
  return {
    /** Replaces files in one transaction. Returns their ids in the order of `files`. */
    replaceFiles: (files: readonly AnalysedFile[]): readonly number[] =>
      change((unusedWords) =>
        files.map((file) => {
          const old = fileAt(file.facts.corpus, file.facts.path);
          if (old !== undefined) drop(old.id, unusedWords);
          return add(file);
        }),
      ),
    /** Updates the modification time of a file whose content is unchanged. */
    touchFile: (id: number, modifiedMs: number) => void touch.run(modifiedMs, id),
    removeFiles: (ids: readonly number[]) =>
      change((unusedWords) => {
        for (const id of ids) drop(id, unusedWords);
      }),
  };
}

function createAdd(database: SqliteDatabase): (file: AnalysedFile) => number {
  const addFile = database.prepare<[AnalysedFile['facts'] & { title: string; lead: string }]>(
    `INSERT INTO files (corpus, path, bytes, modified_ms, hash, title, lead)
     VALUES (@corpus, @path, @bytes, @modifiedMs, @hash, @title, @lead)`,
  );
  type Passage = Omit<AnalysedFile['passages'][number], 'columns'>;
  const addPassage = database.prepare<[Passage & { file: number }]>(
    `INSERT INTO passages (file, heading, trail, line, end_line, words, terms, blocks)
     VALUES (@file, @heading, @trail, @line, @endLine, @words, @terms, @blocks)`,
  );
  const addTerms = database.prepare<[number | bigint, ...string[]]>(
    `INSERT INTO passage_terms (rowid, ${fields.join(', ')})
     VALUES (?${', ?'.repeat(fields.length)})`,
  );
  const addWord = database.prepare<[string]>('INSERT OR IGNORE INTO spellings (word) VALUES (?)');
  return ({ facts, title, lead, passages, spellings }) => {
    const file = Number(addFile.run({ ...facts, title, lead }).lastInsertRowid);
    for (const { columns, ...row } of passages) {
      addTerms.run(addPassage.run({ file, ...row }).lastInsertRowid, ...columns);
    }
    for (const word of spellings) addWord.run(word);
    return file;
  };
}

/** Creates a function that deletes a file and adds its possibly unused words to `unusedWords`. */
function createDrop(database: SqliteDatabase): (file: number, unusedWords: Set<string>) => void {
  const texts = database.prepare<[number], { heading: string; blocks: string }>(
    'SELECT heading, blocks FROM passages WHERE file = ?',
  );
  const drops = [
    'DELETE FROM passage_terms WHERE rowid IN (SELECT id FROM passages WHERE file = ?)',
    'DELETE FROM passages WHERE file = ?',
    'DELETE FROM files WHERE id = ?',
  ].map((sql) => database.prepare<[number]>(sql));
  return (file, unusedWords) => {
    for (const { heading, blocks } of texts.all(file)) {
      for (const word of spellingsOf({ heading, blocks: JSON.parse(blocks) }))
        unusedWords.add(word);
    }
    for (const drop of drops) drop.run(file);
  };
}

/** Version of the file analysis. Increase it when parsing changes, to rebuild older indexes. */
const analysisVersion = 6;
const fields = ['title', 'trail', 'heading', 'body', 'code', 'names', 'defines'] as const;

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

type IndexCallbacks = Pick<AnswersOptions, 'onProgress' | 'onRefreshed' | 'onError'>;

/** Creates a record of the state of the search index. Its callbacks then call those of `next`. */
export function createIndexRecord(clock: Pick<Clock, 'now'>, next: IndexCallbacks = {}) {
  let state: IndexState = { progress: null, current: null, failure: null };
  const callbacks: Required<IndexCallbacks> = {
    onProgress: (progress) => {
      state = { ...state, progress };
      next.onProgress?.(progress);
    },
    onRefreshed: (summary) => {
      state = { progress: null, current: { ...summary, atMs: clock.now() }, failure: null };
      next.onRefreshed?.(summary);
    },
    onError: (error) => {
      const message = error instanceof Error ? error.message : String(error);
      state = { ...state, progress: null, failure: { message, atMs: clock.now() } };
      next.onError?.(error);
    },
  };
  return { read: (): IndexState => state, callbacks };
}
