import type { SqliteDatabase } from '../../lib/files/sqlite.ts';
import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import type { Page, SearchQuery, UserSearchQuery } from '../../model/queries.ts';
import { type Platform, platform } from '../../model/reference.ts';
import { parseCursor, printCursor, toPage, toRowLimit, unknownCursor } from '../store/paging.ts';
import { endOfNumbers, firstNumberAt } from '../store/post-number.ts';
import type { RowDecoder } from '../store/stored-json.ts';
import {
  parseSearchText,
  parseUserSearchText,
  type SearchText,
  type Term,
  type UserSearchText,
} from './search-query.ts';
import { anyPostToken, platformToken, textOf, toWords } from './words.ts';

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

/** Posts and accounts of one platform, or all imported ones of every platform (`imports`). */
export type SearchScope = Platform | 'imports';

function toMatchExpression(
  { include, exclude }: Pick<SearchText, 'include' | 'exclude'>,
  tokens: readonly string[],
  scope: SearchScope,
): string {
  const { wanted, unwanted } = scopeTokens(scope);
  const all = [...include.map(printTerm), ...tokens.map(printToken), ...wanted];
  return join(all.length > 0 ? all : [printToken(anyPostToken)], [
    ...exclude.map(printTerm),
    ...unwanted,
  ]);
}

function toUserMatchExpression(
  { include, exclude, unfinished }: UserSearchText,
  scope: SearchScope,
): string {
  const { wanted, unwanted } = scopeTokens(scope);
  const print = ({ words }: Term) => `words : "${words.join(' ')}"`;
  const all = [
    ...include.map((term) => `${print(term)}${term === unfinished ? ' *' : ''}`),
    ...wanted,
  ];
  const allPlatforms = platform.options.map((name) => printToken(platformToken(name))).join(' OR ');
  return join(all.length > 0 ? all : [`(${allPlatforms})`], [...exclude.map(print), ...unwanted]);
}

function join(all: readonly string[], none: readonly string[]): string {
  const wanted = all.join(' AND ');
  return none.length === 0 ? wanted : `(${wanted}) NOT (${none.join(' OR ')})`;
}

function scopeTokens(scope: SearchScope) {
  return scope === 'imports'
    ? { wanted: [], unwanted: [printToken(platformToken('sample'))] }
    : { wanted: [printToken(platformToken(scope))], unwanted: [] };
}

const printToken = (token: string): string => `marks : "${token}"`;

const printTerm = ({ column, words }: Term): string => `${column} : "${words.join(' ')}"`;

const maxOrdered = 8;

type Terms = Pick<SearchText, 'include' | 'exclude'>;

interface DividedTerms {
  /** Terms that the index checks. It finds all matching posts, and possibly others. */
  readonly indexed: Terms;
  /** Checks a post that the index found for the other terms; `null` if there are none. */
  readonly matches: ((post: Post) => boolean) | null;
}

/** Divides terms so that long phrases are compared only with posts that the index found. */
function dividePhrases({ include, exclude }: Terms): DividedTerms {
  let left = maxOrdered;
  const take = ({ words }: Term): number => {
    const taken = words.length === 1 ? 1 : Math.min(left, words.length);
    if (words.length > 1) left -= taken;
    return taken;
  };
  const wanted = include.map((term) => ({ term, taken: take(term) }));
  const unwanted = exclude.map((term) => ({ term, taken: take(term) }));
  const indexed = {
    include: wanted.flatMap(({ term, taken }) => splitAt(term, taken)),
    // The start of a phrase would exclude too many posts.
    exclude: unwanted.filter(isIndexed).map(({ term }) => term),
  };
  const checked = { include: wanted.filter(isCut), exclude: unwanted.filter(isCut) };
  if (checked.include.length + checked.exclude.length === 0) return { indexed, matches: null };
  return { indexed, matches: (post) => hasPhrases(post, checked) };
}

interface TakenTerm {
  readonly term: Term;
  /** Number of words at the start of the term whose order the index checks. */
  readonly taken: number;
}

const isIndexed = ({ term, taken }: TakenTerm): boolean => taken === term.words.length;
const isCut = (one: TakenTerm): boolean => !isIndexed(one);

function splitAt({ column, words }: Term, count: number): readonly Term[] {
  const phrase = count === 0 ? [] : [{ column, words: words.slice(0, count) }];
  const others = [...new Set(words.slice(count))].map((word) => ({ column, words: [word] }));
  return [...phrase, ...others];
}

function hasPhrases(
  post: Post,
  { include, exclude }: Readonly<Record<keyof Terms, readonly TakenTerm[]>>,
): boolean {
  if (post.type === 'tombstone') return false;
  const text = toPhrase(toWords(textOf(post)));
  const has = ({ term }: TakenTerm) => text.includes(toPhrase(term.words));
  return include.every(has) && !exclude.some(has);
}

const toPhrase = (words: readonly string[]): string =>
  // The lower case of Greek and German capitals is not always the letter that the index compares.
  ` ${words.join(' ')} `.toUpperCase().toLowerCase();
