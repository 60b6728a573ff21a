import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { AnalysedPassage } from './analysed-file.ts';
import type { FoundPassage, IndexedFile, IndexTotals } from './passage-index.ts';
import type { Field } from './schema.ts';

/** The fields that say what a passage is about. */
export const fieldsAbove: readonly Field[] = ['title', 'trail', 'heading', 'names'];

/** Prepares what is asked of an index. Rows are typed where they are selected: the columns are those of `schema.ts`. */
export function prepareLooks(database: SqliteDatabase) {
  return {
    file: database.prepare<[string, string], IndexedFile>(
      'SELECT id, bytes, modified_ms AS modifiedMs, hash FROM files WHERE corpus = ? AND path = ?',
    ),
    builtFor: database.prepare<[], string>('SELECT built_for FROM meta').pluck(),
    postings: database
      .prepare<[string], number>('SELECT rowid FROM passage_terms WHERE passage_terms MATCH ?')
      .pluck(),
    span: database.prepare<[], number>('SELECT coalesce(max(id), 0) + 1 FROM passages').pluck(),
    written: database.prepare<[], number>('SELECT total_changes()').pluck(),
    writtenElsewhere: database.prepare<[], number>('PRAGMA data_version').pluck(),
    passage: database.prepare<
      [number],
      Omit<FoundPassage, 'terms' | 'trail' | 'lead'> & {
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

/** Prepares what changes an index, and the list of the files that were seen. */
export function prepareChanges(database: SqliteDatabase) {
  database.exec('CREATE TEMP TABLE IF NOT EXISTS seen (id INTEGER PRIMARY KEY)');
  return {
    build: database.prepare<[string]>('UPDATE meta SET built_for = ?'),
    addFile: database.prepare<[string, string, number, number, string, string, string]>(
      'INSERT INTO files (corpus, path, bytes, modified_ms, hash, title, lead) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    addPassage: database.prepare<[Omit<AnalysedPassage, 'columns'> & { file: number }]>(
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
    texts: database.prepare<[number], { heading: string; blocks: string }>(
      'SELECT heading, blocks FROM passages WHERE file = ?',
    ),
    dropTerms: database.prepare<[number]>(
      'DELETE FROM passage_terms WHERE rowid IN (SELECT id FROM passages WHERE file = ?)',
    ),
    dropPassages: database.prepare<[number]>('DELETE FROM passages WHERE file = ?'),
    dropFile: database.prepare<[number]>('DELETE FROM files WHERE id = ?'),
    addWord: database.prepare<[string]>('INSERT OR IGNORE INTO spellings (word) VALUES (?)'),
    dropWord: database.prepare<[string]>('DELETE FROM spellings WHERE word = ?'),
  };
}
