import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import type { Page, SearchQuery, UserSearchQuery } from '../../model/queries.ts';
import { parseCursor, printCursor, toPage, toRowLimit, unknownCursor } from '../store/paging.ts';
import { endOfNumbers, firstNumberAt } from '../store/post-number.ts';
import type { RowDecoder } from '../store/stored-json.ts';
import { type SearchScope, toMatchExpression, toUserMatchExpression } from './match-expression.ts';
import { dividePhrases } from './phrases.ts';
import { parseSearchText, parseUserSearchText, type SearchText } from './search-query.ts';

interface Range {
  readonly expression: string;
  readonly from: number;
  readonly below: number;
}

interface FoundRow {
  readonly number: number;
  readonly stored: number;
  readonly json: string;
}

interface PageOptions {
  readonly cursor: string | null;
  readonly limit: number;
}

// FTS5 accepts only integers as bounds of its row ids, and better-sqlite3 binds large numbers as
// reals.
const matches = `FROM post_words CROSS JOIN public_posts AS posts ON posts.number = post_words.rowid
  WHERE post_words MATCH @expression
    AND post_words.rowid < CAST(@below AS INTEGER) AND post_words.rowid >= CAST(@from AS INTEGER)
  ORDER BY post_words.rowid DESC`;

export function openPostSearch(database: SqliteDatabase, decoder: RowDecoder) {
  const readLatest = openLatest(database);
  const readTop = openTop(database);
  return {
    /** Searches public posts, newest first, or by likes and reposts for the feed `top`. */
    searchPosts: (query: SearchQuery, scope: SearchScope): Page<Post> => {
      const { count, feed, cursor } = query;
      const text = parseSearchText(query.text);
      if (isEmpty(text)) return { items: [], cursor: null, warnings: [...text.warnings, noTerms] };
      const { indexed, matches } = dividePhrases(text);
      const expression = toMatchExpression(indexed, feedTokens[feed], scope);
      const range = { expression, ...rangeOf(query, text) };
      const isRanked = feed === 'top';
      const read = isRanked ? readTop : readLatest;
      const { rows, isCut } = read(range, { cursor, limit: toRowLimit(count) });
      const found = rows.map(({ json, ...row }) => ({ ...row, item: decoder.post(json) }));
      const warnings = [...text.warnings, ...(isCut ? [cutWarning] : [])];
      // The order of ranked posts can change when a post is added.
      const page = toPage(found, count, { warnings, isExact: !isRanked });
      if (matches === null) return page;
      return { ...page, items: page.items.filter(matches), rows: page.items.length };
    },
  };
}

const noTerms = 'The search has no words, tags or operators that the archive can search for.';
const feedTokens = { latest: [], top: [], photos: ['photo'], videos: ['video'] } as const;

function isEmpty({ include, exclude, sinceSeconds, untilSeconds }: SearchText): boolean {
  const hasTime = sinceSeconds !== null || untilSeconds !== null;
  return include.length === 0 && exclude.length === 0 && !hasTime;
}

function rangeOf(query: SearchQuery, text: SearchText): Omit<Range, 'expression'> {
  const since = Math.max(query.sinceSeconds ?? 0, text.sinceSeconds ?? 0);
  const until = Math.min(query.untilSeconds ?? Infinity, text.untilSeconds ?? Infinity);
  return {
    from: firstNumberAt(since),
    below: until === Infinity ? endOfNumbers : firstNumberAt(until),
  };
}

function openLatest(database: SqliteDatabase) {
  const latest = database.prepare<unknown[], FoundRow>(
    `SELECT posts.number, posts.stored, posts.json ${matches} LIMIT @limit`,
  );
  return (range: Range, { cursor, limit }: PageOptions) => {
    const [after = endOfNumbers] = cursor === null ? [] : parseCursor(cursor, 1);
    const rows = latest.all({ ...range, below: Math.min(range.below, after), limit });
    return { rows: rows.map((row) => ({ ...row, cursor: printCursor(row.number) })), isCut: false };
  };
}

/** Maximum number of newest matches that the `top` feed sorts. All others are omitted. */
export const rankedPosts = 500;

/**
 * Maximum for the second and later pages of `top`. It is higher than `rankedPosts`, because an
 * import between two pages can add posts to the range that the first page ranked.
 */
const rankedLater = 10 * rankedPosts;

const cutWarning = `Only the newest ${rankedPosts} matching posts are ranked.`;

/**
 * Prepares the query of the `top` feed: the newest `rankedPosts` matches by likes and reposts, ties
 * newest first. The cursor contains the range of post numbers that the first page ranked, so that
 * newer posts do not shift later pages.
 */
function openTop(database: SqliteDatabase) {
  const rank = database.prepare<
    unknown[],
    Readonly<Record<'number' | 'score' | 'newest' | 'oldest', number>>
  >(
    `WITH found AS MATERIALIZED (
       SELECT posts.number, posts.score ${matches} LIMIT @ranked + 1
     ), bounds AS MATERIALIZED (
       SELECT max(number) AS newest, iif(count(*) > @ranked, min(number) + 1, @from) AS oldest
       FROM found
     )
     SELECT number, score, newest, oldest FROM bounds CROSS JOIN found
     WHERE number >= oldest AND (score, number) < (@score, @number)
     ORDER BY score DESC, number DESC LIMIT @limit`,
  );
  const readByNumber = database.prepare<unknown[], FoundRow>(
    'SELECT number, stored, json FROM posts WHERE number = ?',
  );
  return (range: Range, { cursor, limit }: PageOptions) => {
    const place = cursor === null ? startOf(range) : parsePlace(cursor, range);
    const ranked = rank.all({ ...place, limit });
    const [first] = ranked;
    const below = cursor === null ? (first?.newest ?? 0) + 1 : place.below;
    const from = first?.oldest ?? place.from;
    const rows = ranked.flatMap(({ number, score }) => {
      const row = readByNumber.get(number);
      return row === undefined ? [] : [{ ...row, cursor: printCursor(below, from, score, number) }];
    });
    return { rows, isCut: from > range.from };
  };
}

function startOf(range: Range) {
  return { ...range, ranked: rankedPosts, score: Number.MAX_VALUE, number: 0 };
}

function parsePlace(cursor: string, { expression, ...range }: Range): ReturnType<typeof startOf> {
  const [below = 0, from = 0, score = 0, number = 0] = parseCursor(cursor, 4);
  return {
    expression,
    below: Math.min(below, range.below),
    from: Math.max(from, range.from),
    ranked: rankedLater,
    score,
    number,
  };
}

interface UserRow {
  readonly followers: number;
  readonly handle: string;
  readonly platform: string;
  readonly stored: number;
  readonly json: string;
}

export function openUserSearch(database: SqliteDatabase, decoder: RowDecoder) {
  const find = database.prepare<unknown[], UserRow>(
    `SELECT followers, handle, platform, stored, json
     FROM account_words CROSS JOIN accounts ON accounts.number = account_words.rowid
     WHERE account_words MATCH @expression AND protected = 0 AND (followers < @followers
       OR (followers = @followers AND (handle, platform) > (@handle, @platform)))
     ORDER BY followers DESC, handle, platform LIMIT @limit`,
  );
  return {
    /** Searches public accounts, most followers first. The last term also matches as a prefix. */
    searchUsers: ({ text, count, cursor }: UserSearchQuery, scope: SearchScope): Page<Account> => {
      const parsed = parseUserSearchText(text);
      const { include, exclude, warnings } = parsed;
      if (include.length === 0 && exclude.length === 0) {
        return { items: [], cursor: null, warnings: [...warnings, noWords] };
      }
      const place = cursor === null ? firstUser : parseUserPlace(cursor);
      const expression = toUserMatchExpression(parsed, scope);
      const rows = find.all({ expression, ...place, limit: toRowLimit(count) }).map((row) => ({
        item: decoder.account(row.json),
        stored: row.stored,
        cursor: `${row.followers}.${row.platform}.${row.handle}`,
      }));
      return toPage(rows, count, { warnings, isExact: false });
    },
  };
}

const noWords = 'The search has no words that the archive can search for.';
const firstUser = { followers: Number.MAX_VALUE, handle: '', platform: '' };

function parseUserPlace(cursor: string): typeof firstUser {
  const [, followers, platform = '', handle = ''] =
    /^(-1|\d{1,16})\.([a-z]+)\.(\S{1,512})$/.exec(cursor) ?? [];
  if (followers === undefined) throw unknownCursor();
  return { followers: Number(followers), platform, handle };
}
