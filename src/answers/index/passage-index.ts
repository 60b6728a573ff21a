import { rmSync } from 'node:fs';
import {
  errorCodeOf,
  openSqlite,
  type SqliteDatabase,
  UnusableFileError,
} from '../../core/sqlite.ts';
import { toPassages } from '../passages.ts';
import type { Block, ReadFile } from '../readers/section.ts';
import {
  type FieldTerms,
  leadTerms,
  packTerms,
  spellingsOf,
  toFieldTerms,
  unpackTerms,
} from './passage-terms.ts';
import { analysisVersion, migrations } from './schema.ts';

/** A file of the index. */
export interface IndexedFile {
  readonly id: number;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly hash: string;
}

/** What is known of a file besides its text. */
export interface FileFacts {
  readonly corpus: string;
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly hash: string;
}

/** A passage that a search found, with what it is judged by. */
export interface FoundPassage {
  readonly id: number;
  readonly file: number;
  readonly corpus: string;
  readonly path: string;
  readonly title: string;
  readonly heading: string;
  readonly trail: readonly string[];
  readonly line: number;
  readonly endLine: number;
  readonly terms: FieldTerms;
  /** The terms of the first words of the file. */
  readonly lead: readonly string[];
  /** How well SQLite thinks that it fits; larger is better. */
  readonly bm25: number;
}

/** How much the index holds. */
export interface IndexTotals {
  readonly files: number;
  readonly passages: number;
  /** The mean number of words in a passage. */
  readonly meanWords: number;
}

/** The weights of the fields for the first look, in their order. */
const fieldWeights = '3.0, 2.0, 5.0, 1.0, 0.7, 1.5';

/** Keeps passages and finds them by their words. The caller owns it and closes it. */
export class PassageIndex {
  readonly #database: SqliteDatabase;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    if (readAnalysis(database) !== analysisVersion) clear(database);
    this.#statements = prepare(database);
  }

  /** Gives what is kept of a file. */
  file(corpus: string, path: string): IndexedFile | undefined {
    return this.#statements.file.get(corpus, path);
  }

  /** Puts a file in the place of what was kept of it; a file without text is kept without passages. */
  replaceFile(facts: FileFacts, read: ReadFile | undefined): number {
    return this.#database.transaction(() => this.#replace(facts, read)).immediate();
  }

  #replace(facts: FileFacts, read: ReadFile | undefined): number {
    const old = this.file(facts.corpus, facts.path);
    if (old !== undefined) this.#drop(old.id);
    const { corpus, path, bytes, modifiedMs, hash } = facts;
    const title = read?.title ?? '';
    const lead = read === undefined ? '' : leadTerms(read).join(' ');
    const added = this.#statements.addFile.run(corpus, path, bytes, modifiedMs, hash, title, lead);
    const file = Number(added.lastInsertRowid);
    const spellings = new Set<string>();
    for (const passage of read === undefined ? [] : toPassages(read)) {
      for (const word of spellingsOf(passage)) spellings.add(word);
      const terms = toFieldTerms({ path, title, passage });
      const { heading, line, endLine } = passage;
      const id = this.#statements.addPassage.run({
        file,
        heading,
        trail: JSON.stringify(passage.trail),
        line,
        endLine,
        words: terms.body.length + terms.code.length,
        terms: packTerms(terms),
        blocks: JSON.stringify(passage.blocks),
      }).lastInsertRowid;
      const { title: inTitle, trail, heading: inHeading, body, code, names } = terms;
      const columns = [inTitle, trail, inHeading, body, code, names].map((one) => one.join(' '));
      this.#statements.addTerms.run(id, ...columns);
    }
    for (const word of spellings) this.#statements.addWord.run(word);
    return file;
  }

  /** Notes that a file whose content is the same was written again. */
  touchFile(id: number, modifiedMs: number): void {
    this.#statements.touch.run(modifiedMs, id);
  }

  /** Begins a look at all files: from now on `markSeen` is counted. */
  startSeeing(): void {
    this.#database.exec('DELETE FROM seen');
  }

  /** Says that a file is still there. */
  markSeen(id: number): void {
    this.#statements.see.run(id);
  }

  /** Removes up to `most` files that were not seen; gives how many. */
  removeUnseen(most: number): number {
    const ids = this.#statements.unseen.all(most);
    this.#database
      .transaction(() => {
        for (const id of ids) this.#drop(id);
      })
      .immediate();
    return ids.length;
  }

  #drop(file: number): void {
    this.#statements.dropTerms.run(file);
    this.#statements.dropPassages.run(file);
    this.#statements.dropFile.run(file);
  }

  /** Runs a look that sees one state of the index, whatever another connection writes meanwhile. */
  atOnce<Found>(look: () => Found): Found {
    return this.#database.transaction(look).deferred();
  }

  /** Finds the passages that hold any of these terms, best first. */
  search(terms: readonly string[], most: number): readonly FoundPassage[] {
    const quoted = terms
      .map((term) => term.replaceAll(/[^\p{L}\p{N}]/gu, ''))
      .filter((term) => term !== '');
    if (quoted.length === 0) return [];
    const match = quoted.map((term) => `"${term}"`).join(' OR ');
    return this.#statements.search.all(match, most).map(({ id, score }) => this.#load(id, -score));
  }

  #load(id: number, bm25: number): FoundPassage {
    const row = this.#statements.passage.get(id);
    if (row === undefined)
      throw new Error(`The index has terms of passage ${id}, but not the passage.`);
    const { terms, trail, lead, ...rest } = row;
    return {
      ...rest,
      bm25,
      terms: unpackTerms(terms),
      lead: lead.split(' '),
      trail: JSON.parse(trail),
    };
  }

  /** Gives what stands in a passage. */
  blocks(id: number): readonly Block[] {
    const json = this.#statements.blocks.get(id);
    return json === undefined ? [] : JSON.parse(json);
  }

  /** Gives in how many passages a term is. */
  passagesWith(term: string): number {
    return this.#statements.term.get(term) ?? 0;
  }

  /** Gives the words that begin with `start`, of a length between these. */
  wordsLike(start: string, shortest: number, longest: number): readonly string[] {
    return this.#statements.words.all(start, `${start}\u{10ffff}`, shortest, longest);
  }

  /** Gives how much there is. */
  totals(): IndexTotals {
    return this.#statements.totals.get() ?? { files: 0, passages: 0, meanWords: 0 };
  }

  close(): void {
    this.#database.close();
  }
}

/** Opens the index at a path, or `:memory:`. A file that cannot be used is made anew: it holds nothing of its own. */
export function openPassageIndex(path: string): PassageIndex {
  try {
    return new PassageIndex(openSqlite({ path, migrations }));
  } catch (error) {
    if (!isUnusable(error) || path === ':memory:') throw error;
    for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`, { force: true });
    return new PassageIndex(openSqlite({ path, migrations }));
  }
}

function isUnusable(error: unknown): boolean {
  const code = errorCodeOf(error) ?? '';
  return error instanceof UnusableFileError || /^SQLITE_(?:NOTADB|CORRUPT)/.test(code);
}

function readAnalysis(database: SqliteDatabase): number | undefined {
  return database.prepare<[], number>('SELECT analysis FROM meta').pluck().get();
}

function clear(database: SqliteDatabase): void {
  database.exec(`
    BEGIN IMMEDIATE;
    INSERT INTO passage_terms (passage_terms) VALUES ('delete-all');
    DELETE FROM passages;
    DELETE FROM files;
    DELETE FROM spellings;
    UPDATE meta SET analysis = ${analysisVersion};
    COMMIT;
  `);
}

/** Rows are typed where they are selected: the columns are those of `schema.ts`. */
function prepare(database: SqliteDatabase) {
  database.exec('CREATE TEMP TABLE IF NOT EXISTS seen (id INTEGER PRIMARY KEY)');
  return {
    file: database.prepare<[string, string], IndexedFile>(
      'SELECT id, bytes, modified_ms AS modifiedMs, hash FROM files WHERE corpus = ? AND path = ?',
    ),
    addFile: database.prepare<[string, string, number, number, string, string, string]>(
      'INSERT INTO files (corpus, path, bytes, modified_ms, hash, title, lead) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    addPassage: database.prepare<[Record<string, string | number>]>(
      `INSERT INTO passages (file, heading, trail, line, end_line, words, terms, blocks)
       VALUES (@file, @heading, @trail, @line, @endLine, @words, @terms, @blocks)`,
    ),
    addTerms: database.prepare<[number | bigint, ...string[]]>(
      `INSERT INTO passage_terms (rowid, title, trail, heading, body, code, names)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
    touch: database.prepare<[number, number]>('UPDATE files SET modified_ms = ? WHERE id = ?'),
    see: database.prepare<[number]>('INSERT OR IGNORE INTO temp.seen (id) VALUES (?)'),
    unseen: database
      .prepare<[number], number>(
        'SELECT id FROM files WHERE id NOT IN (SELECT id FROM temp.seen) LIMIT ?',
      )
      .pluck(),
    dropTerms: database.prepare<[number]>(
      'DELETE FROM passage_terms WHERE rowid IN (SELECT id FROM passages WHERE file = ?)',
    ),
    dropPassages: database.prepare<[number]>('DELETE FROM passages WHERE file = ?'),
    dropFile: database.prepare<[number]>('DELETE FROM files WHERE id = ?'),
    search: database.prepare<[string, number], { id: number; score: number }>(
      `SELECT rowid AS id, bm25(passage_terms, ${fieldWeights}) AS score FROM passage_terms
       WHERE passage_terms MATCH ? ORDER BY score LIMIT ?`,
    ),
    passage: database.prepare<
      [number],
      Omit<FoundPassage, 'terms' | 'trail' | 'bm25' | 'lead'> & {
        terms: string;
        trail: string;
        lead: string;
      }
    >(
      `SELECT p.id, p.file, f.corpus, f.path, f.title, f.lead, p.heading, p.trail, p.line,
         p.end_line AS endLine, p.terms
       FROM passages p JOIN files f ON f.id = p.file WHERE p.id = ?`,
    ),
    blocks: database.prepare<[number], string>('SELECT blocks FROM passages WHERE id = ?').pluck(),
    term: database.prepare<[string], number>('SELECT doc FROM vocabulary WHERE term = ?').pluck(),
    addWord: database.prepare<[string]>('INSERT OR IGNORE INTO spellings (word) VALUES (?)'),
    words: database
      .prepare<[string, string, number, number], string>(
        `SELECT word FROM spellings
         WHERE word >= ? AND word < ? AND length(word) BETWEEN ? AND ?`,
      )
      .pluck(),
    totals: database.prepare<[], IndexTotals>(
      `SELECT (SELECT count(*) FROM files) AS files, count(*) AS passages,
         coalesce(avg(words), 0) AS meanWords FROM passages`,
    ),
  };
}
