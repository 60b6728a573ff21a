import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { parseCursor, printCursor } from '../store/paging.ts';

/** Which posts are asked for: an FTS5 expression, and the range of numbers, `below` not included. */
export interface Range {
  readonly expression: string;
  readonly from: number;
  readonly below: number;
}

/** A post of the top feed. */
export interface TopRow {
  readonly number: number;
  readonly stored: number;
  readonly json: string;
  /** Where the feed goes on after it. */
  readonly cursor: string;
}

/** Reads a page of the top feed, with sentences on what was not ranked. */
export type ReadTop = (
  range: Range,
  page: { readonly cursor: string | null; readonly limit: number },
) => { readonly rows: readonly TopRow[]; readonly warnings: readonly string[] };

/** The newest matches that the top feed ranks. */
export const rankedPosts = 500;

/**
 * The most matches that a later page ranks: it ranks those of the first page's range again, and an
 * import in between can have added to them.
 */
const rankedLater = 10 * rankedPosts;

interface Ranked {
  readonly number: number;
  readonly score: number;
  /** The range of all that was ranked. */
  readonly newest: number;
  readonly oldest: number;
}

/** Where a page begins: what is ranked for it, and what it comes after. */
interface Place extends Omit<Range, 'expression'> {
  readonly ranked: number;
  readonly score: number;
  readonly number: number;
}

/**
 * Prepares what reads the top feed: among the newest matches, those with the most likes and reposts
 * first, then newest first. A cursor holds the range that the first page ranked and the place in it,
 * so what comes and goes between two pages moves nothing else.
 */
export function openTop(database: SqliteDatabase): ReadTop {
  const rank = database.prepare<unknown[], Ranked>(
    `WITH found AS MATERIALIZED (
       SELECT posts.number, posts.score
       FROM post_words CROSS JOIN public_posts AS posts ON posts.number = post_words.rowid
       WHERE post_words MATCH @expression
         AND post_words.rowid < CAST(@below AS INTEGER)
         AND post_words.rowid >= CAST(@from AS INTEGER)
       ORDER BY post_words.rowid DESC LIMIT @ranked + 1
     ), bounds AS MATERIALIZED (
       SELECT max(number) AS newest, iif(count(*) > @ranked, min(number) + 1, @from) AS oldest
       FROM found
     )
     SELECT number, score, newest, oldest FROM bounds CROSS JOIN found
     WHERE number >= oldest AND (score, number) < (@score, @number)
     ORDER BY score DESC, number DESC LIMIT @limit`,
  );
  const one = database.prepare<unknown[], Omit<TopRow, 'cursor'>>(
    'SELECT number, stored, json FROM posts WHERE number = ?',
  );
  return (range, { cursor, limit }) => {
    const place = cursor === null ? startOf(range) : parsePlace(cursor, range);
    const ranked = rank.all({ expression: range.expression, ...place, limit });
    const [first] = ranked;
    const below = cursor === null ? (first?.newest ?? 0) + 1 : place.below;
    const from = first?.oldest ?? place.from;
    const rows = ranked.flatMap(({ number, score }) => {
      const row = one.get(number);
      return row === undefined ? [] : [{ ...row, cursor: printCursor(below, from, score, number) }];
    });
    return { rows, warnings: from > range.from ? [cutWarning] : [] };
  };
}

function startOf(range: Range): Place {
  return { ...range, ranked: rankedPosts, score: Number.MAX_VALUE, number: 0 };
}

function parsePlace(cursor: string, range: Range): Place {
  const [below = 0, from = 0, score = 0, number = 0] = parseCursor(cursor, 4);
  return {
    below: Math.min(below, range.below),
    from: Math.max(from, range.from),
    ranked: rankedLater,
    score,
    number,
  };
}

const cutWarning = `Top posts are those among the newest ${rankedPosts} that match.`;
