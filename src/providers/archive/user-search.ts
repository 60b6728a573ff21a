import type { SqliteDatabase } from '../../core/sqlite.ts';
import type { Account } from '../../model/account.ts';
import type { Platform } from '../../model/reference.ts';
import type { Page, UserSearchQuery } from '../provider.ts';
import { printPlatforms } from './match-expression.ts';
import { toPage, toRowLimit, unknownCursor } from './paging.ts';
import type { Revive } from './stored-json.ts';
import { toWords } from './words.ts';

/** The search of accounts. */
export interface UserSearch {
  /**
   * Finds accounts by the words of handle, name and description, of which the last may be unfinished;
   * those with the most followers first, then by handle. Protected accounts are not found.
   *
   * @param platforms Whose accounts are wanted; null where all are.
   */
  searchUsers(query: UserSearchQuery, platforms: readonly Platform[] | null): Page<Account>;
}

interface UserRow {
  readonly followers: number;
  readonly handle: string;
  readonly platform: string;
  readonly stored: number;
  readonly json: string;
}

/** How much of a search text is read. */
const limits = { characters: 4096, terms: 20, words: 100 } as const;

/** Prepares what searches accounts. */
export function openUserSearch(database: SqliteDatabase, revive: Revive): UserSearch {
  const find = database.prepare<unknown[], UserRow>(
    `SELECT followers, handle, platform, stored, json
     FROM account_words CROSS JOIN accounts ON accounts.number = account_words.rowid
     WHERE account_words MATCH @expression AND protected = 0 AND (followers < @followers
       OR (followers = @followers AND (handle, platform) > (@handle, @platform)))
     ORDER BY followers DESC, handle, platform LIMIT @limit`,
  );
  return {
    searchUsers: ({ text, count, cursor }, platforms) => {
      const { terms, warnings } = toTerms(text);
      if (terms.length === 0) return { items: [], cursor: null, warnings: [nothing] };
      const place = cursor === null ? start : parsePlace(cursor);
      const expression = toExpression(terms, platforms);
      const rows = find.all({ expression, ...place, limit: toRowLimit(count) }).map((row) => ({
        item: revive.account(row.json),
        stored: row.stored,
        cursor: `${row.followers}.${row.platform}.${row.handle}`,
      }));
      return toPage(rows, { count, warnings });
    },
  };
}

const nothing = 'There is no word in the search that the archive can look for.';

/** Before every account. */
const start = { followers: Number.MAX_VALUE, handle: '', platform: '' };

function parsePlace(cursor: string): typeof start {
  const [, followers, platform = '', handle = ''] =
    /^(-1|\d{1,16})\.([a-z]+)\.(\S{1,512})$/.exec(cursor) ?? [];
  if (followers === undefined) throw unknownCursor();
  return { followers: Number(followers), platform, handle };
}

function toTerms(text: string) {
  const all = text
    .slice(0, limits.characters)
    .split(/\s+/)
    .map(toWords)
    .filter((words) => words.length > 0);
  const terms = all.slice(0, limits.terms).filter(({ length }) => length <= limits.words);
  const isCut = text.length > limits.characters || terms.length < all.length;
  return { terms, warnings: isCut ? [tooLong] : [] };
}

const tooLong = `The search is long; the archive looked for ${limits.terms} words at most.`;

function toExpression(
  terms: readonly (readonly string[])[],
  platforms: readonly Platform[] | null,
): string {
  const words = terms.map((term) => `words : "${term.join(' ')}"`).join(' AND ');
  return platforms === null ? `${words} *` : `(${printPlatforms(platforms)}) AND ${words} *`;
}
