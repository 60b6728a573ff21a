import { openSqlite } from '../../src/lib/files/sqlite.ts';
import type { JudgedAnswer } from './scoring.ts';

/** Section of a document, with its full text. */
export interface PlainSection {
  readonly file: string;
  readonly heading: string;
  readonly line: number;
  readonly text: string;
}

/** Baseline search: answers every question with the sections (up to five) that BM25 ranks highest. */
export interface Baseline {
  answer(question: string): JudgedAnswer;
  close(): void;
}

/** Opens an SQLite FTS5 index of the sections. A section matches if it contains any (stemmed) word of the question. */
export function openBaseline(sections: readonly PlainSection[]): Baseline {
  const database = openSqlite({
    path: ':memory:',
    migrations: [
      (db) =>
        db.exec(
          "CREATE VIRTUAL TABLE plain USING fts5 (heading, text, tokenize='porter unicode61')",
        ),
    ],
  });
  const add = database.prepare('INSERT INTO plain (rowid, heading, text) VALUES (?, ?, ?)');
  database.transaction(() => {
    sections.forEach(({ heading, text }, at) => {
      add.run(at, heading, text);
    });
  })();
  const search = database
    .prepare<[string], number>(
      'SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT 5',
    )
    .pluck();
  return {
    answer: (question) => {
      const words = question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
      const start = performance.now();
      const rows =
        words.length === 0 ? [] : search.all(words.map((word) => `"${word}"`).join(' OR '));
      const ms = performance.now() - start;
      const found = rows.flatMap((row) => sections[row] ?? []);
      return {
        text: found.map(({ text }) => text.slice(0, 800)).join('\n\n'),
        abstained: false,
        citations: found,
        ms,
      };
    },
    close: () => database.close(),
  };
}
