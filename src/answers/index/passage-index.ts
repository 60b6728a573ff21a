import { rmSync } from 'node:fs';
import {
  errorCodeOf,
  openStore,
  type SqliteDatabase,
  UnusableFileError,
} from '../../core/files/sqlite.ts';
import { type Corpus, keyOf } from '../corpus/corpus.ts';
import type { Block } from '../readers/section.ts';
import { toStem } from '../text/words.ts';
import type { AnalysedFile } from './analysed-file.ts';
import { type FieldTerms, spellingsOf, unpackTerms } from './passage-terms.ts';
import { analysisVersion, migrations } from './schema.ts';
import { fieldsAbove, prepareChanges, prepareLooks } from './statements.ts';

/** A file of the index. */
export interface IndexedFile {
  readonly id: number;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly hash: string;
}

/** A passage that was found, with what it is judged by. */
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
}

/** How much the index holds. */
export interface IndexTotals {
  readonly files: number;
  readonly passages: number;
  /** The mean number of words in a passage. */
  readonly meanWords: number;
}

/** Keeps passages and finds them by their words. The caller owns it and closes it. */
export class PassageIndex {
  readonly #database: SqliteDatabase;
  readonly #statements: ReturnType<typeof prepareLooks> & ReturnType<typeof prepareChanges>;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    if (readAnalysis(database) !== analysisVersion) clear(database);
    this.#statements = { ...prepareLooks(database), ...prepareChanges(database) };
  }

  /** True where these corpora, and no others, have been read whole by this process or an earlier one. */
  isBuiltFor(corpora: readonly Corpus[]): boolean {
    return this.#statements.builtFor.get() === toBuildKey(corpora);
  }

  /** Notes that these corpora have been read whole. */
  noteBuilt(corpora: readonly Corpus[]): void {
    if (!this.isBuiltFor(corpora)) this.#statements.build.run(toBuildKey(corpora));
  }

  /** Gives what is kept of a file. */
  file(corpus: string, path: string): IndexedFile | undefined {
    return this.#statements.file.get(corpus, path);
  }

  /** Puts files in the place of what was kept of them, all or none; gives their ids in that order. */
  replaceFiles(files: readonly AnalysedFile[]): readonly number[] {
    return this.#database
      .transaction(() => {
        const left = new Set<string>();
        const ids = files.map((file) => this.#replace(file, left));
        this.#forgetSpellings(left);
        return ids;
      })
      .immediate();
  }

  #replace({ facts, title, lead, passages, spellings }: AnalysedFile, left: Set<string>): number {
    const { corpus, path, bytes, modifiedMs, hash } = facts;
    const old = this.file(corpus, path);
    if (old !== undefined) this.#drop(old.id, left);
    const added = this.#statements.addFile.run(corpus, path, bytes, modifiedMs, hash, title, lead);
    const file = Number(added.lastInsertRowid);
    for (const { columns, ...row } of passages) {
      const id = this.#statements.addPassage.run({ file, ...row }).lastInsertRowid;
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
    if (ids.length === 0) return 0;
    this.#database
      .transaction(() => {
        const left = new Set<string>();
        for (const id of ids) this.#drop(id, left);
        this.#forgetSpellings(left);
      })
      .immediate();
    return ids.length;
  }

  /** Adds the words of what is dropped to those that may be left without a passage. */
  #drop(file: number, left: Set<string>): void {
    for (const { heading, blocks } of this.#statements.texts.all(file)) {
      for (const word of spellingsOf({ heading, blocks: JSON.parse(blocks) })) left.add(word);
    }
    this.#statements.dropTerms.run(file);
    this.#statements.dropPassages.run(file);
    this.#statements.dropFile.run(file);
  }

  /** Forgets those of the words that no passage holds any more, in any of their forms. */
  #forgetSpellings(left: ReadonlySet<string>): void {
    for (const word of left) {
      if (this.passagesWith(toStem(word)) === 0) this.#statements.dropWord.run(word);
    }
  }

  /** Runs a look that sees one state of the index, whatever another connection writes meanwhile. */
  atOnce<Found>(look: () => Found): Found {
    return this.#database.transaction(look).deferred();
  }

  /** Changes whenever this connection or another one has written. */
  get revision(): string {
    return `${this.#statements.written.get()}/${this.#statements.writtenElsewhere.get()}`;
  }

  /** Gives the ids of the passages that hold a term, in any field or only in those above the text. */
  postings(term: string, where: 'anywhere' | 'above'): readonly number[] {
    const plain = term.replaceAll(/[^\p{L}\p{N}]/gu, '');
    if (plain === '') return [];
    return this.#statements.postings.all(
      where === 'above' ? `{${fieldsAbove.join(' ')}} : "${plain}"` : `"${plain}"`,
    );
  }

  /** Gives one more than the highest id of a passage. */
  span(): number {
    return this.#statements.span.get() ?? 1;
  }

  /** Gives a passage; undefined where it is gone. */
  passage(id: number): FoundPassage | undefined {
    const row = this.#statements.passage.get(id);
    if (row === undefined) return undefined;
    const { terms, trail, lead, ...rest } = row;
    return { ...rest, terms: unpackTerms(terms), lead: lead.split(' '), trail: JSON.parse(trail) };
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

function toBuildKey(corpora: readonly Corpus[]): string {
  return JSON.stringify(corpora.map(keyOf));
}

/** Opens the index at a path, or `:memory:`. An unusable file is replaced, because it can be built again. */
export function openPassageIndex(path: string): PassageIndex {
  const open = () => openStore({ path, migrations }, (database) => new PassageIndex(database));
  try {
    return open();
  } catch (error) {
    if (!isUnusable(error) || path === ':memory:') throw error;
    for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`, { force: true });
    return open();
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
    UPDATE meta SET analysis = ${analysisVersion}, built_for = '';
    COMMIT;
  `);
}
