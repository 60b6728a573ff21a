import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Post } from '../../model/post.ts';
import type { Page, SearchQuery } from '../../model/queries.ts';
import { parseCursor, printCursor, type Row, toPage, toRowLimit } from '../store/paging.ts';
import { endOfNumbers, firstNumberAt } from '../store/post-number.ts';
import type { Revive } from '../store/stored-json.ts';
import { type SearchScope, toMatchExpression } from './match-expression.ts';
import { parseSearchText, type SearchText } from './search-query.ts';
import { openTop, type Range } from './top.ts';

/** The search of posts. */
export interface PostSearch {
  /**
   * Finds the posts that a text asks for, newest first, or as the feed says. Posts of protected
   * accounts and what stands in the place of lost ones are not found.
   *
   */
  searchPosts(query: SearchQuery, scope: SearchScope): Page<Post>;
}

interface FoundRow {
  readonly number: number;
  readonly stored: number;
  readonly json: string;
}

/** Prepares what searches posts. */
export function openPostSearch(database: SqliteDatabase, revive: Revive): PostSearch {
  // FTS5 heeds only integers as limits of its row ids, and JavaScript's large numbers arrive as reals.
  const latest = database.prepare<unknown[], FoundRow>(
    `SELECT posts.number, posts.stored, posts.json
     FROM post_words CROSS JOIN public_posts AS posts ON posts.number = post_words.rowid
     WHERE post_words MATCH @expression
       AND post_words.rowid < CAST(@below AS INTEGER) AND post_words.rowid >= CAST(@from AS INTEGER)
     ORDER BY post_words.rowid DESC LIMIT @limit`,
  );
  const readTop = openTop(database);
  const toRow = ({ number, stored, json }: FoundRow): Row<Post> => ({
    item: revive.post(json),
    stored,
    cursor: printCursor(number),
  });
  return {
    searchPosts: (query, scope) => {
      const text = parseSearchText(query.text);
      if (isEmpty(text)) return { items: [], cursor: null, warnings: [...text.warnings, nothing] };
      const range = { expression: toExpression(query, text, scope), ...rangeOf(query, text) };
      const { count, feed, cursor } = query;
      if (feed === 'top') {
        const { rows, warnings } = readTop(range, { cursor, limit: toRowLimit(count) });
        const found = rows.map((row) => ({ ...toRow(row), cursor: row.cursor }));
        return toPage(found, { count, warnings: [...text.warnings, ...warnings], isRanked: true });
      }
      const [after = endOfNumbers] = cursor === null ? [] : parseCursor(cursor, 1);
      const below = Math.min(range.below, after);
      const rows = latest.all({ ...range, below, limit: toRowLimit(count) });
      return toPage(rows.map(toRow), { count, warnings: text.warnings });
    },
  };
}

const nothing = 'There is nothing in the search that the archive can look for.';

function isEmpty({ include, exclude, sinceSeconds, untilSeconds }: SearchText): boolean {
  const hasTime = sinceSeconds !== null || untilSeconds !== null;
  return include.length === 0 && exclude.length === 0 && !hasTime;
}

function toExpression({ feed }: SearchQuery, text: SearchText, scope: SearchScope): string {
  const marks = { latest: [], top: [], photos: ['photo'], videos: ['video'] } as const;
  return toMatchExpression(text, marks[feed], scope);
}

function rangeOf(query: SearchQuery, text: SearchText): Omit<Range, 'expression'> {
  const since = Math.max(query.sinceSeconds ?? 0, text.sinceSeconds ?? 0);
  const until = Math.min(query.untilSeconds ?? Infinity, text.untilSeconds ?? Infinity);
  return {
    from: firstNumberAt(since),
    below: until === Infinity ? endOfNumbers : firstNumberAt(until),
  };
}
