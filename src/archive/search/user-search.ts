import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Account } from '../../model/account.ts';
import type { Page, UserSearchQuery } from '../../model/queries.ts';
import { toPage, toRowLimit, unknownCursor } from '../store/paging.ts';
import type { Revive } from '../store/stored-json.ts';
import { type SearchScope, toUserMatchExpression } from './match-expression.ts';
import { parseUserSearchText } from './search-query.ts';

interface UserRow {
  readonly followers: number;
  readonly handle: string;
  readonly platform: string;
  readonly stored: number;
  readonly json: string;
}

export function openUserSearch(database: SqliteDatabase, revive: Revive) {
  const find = database.prepare<unknown[], UserRow>(
    `SELECT followers, handle, platform, stored, json
     FROM account_words CROSS JOIN accounts ON accounts.number = account_words.rowid
     WHERE account_words MATCH @expression AND protected = 0 AND (followers < @followers
       OR (followers = @followers AND (handle, platform) > (@handle, @platform)))
     ORDER BY followers DESC, handle, platform LIMIT @limit`,
  );
  return {
    /**
     * Finds public accounts by words and phrases that their handle, name and description have or have not, of which
     * the last may be unfinished. Those with the most followers come first, then by handle.
     */
    searchUsers: ({ text, count, cursor }: UserSearchQuery, scope: SearchScope): Page<Account> => {
      const sought = parseUserSearchText(text);
      const { include, exclude, warnings } = sought;
      if (include.length === 0 && exclude.length === 0) {
        return { items: [], cursor: null, warnings: [...warnings, nothing] };
      }
      const place = cursor === null ? start : parsePlace(cursor);
      const expression = toUserMatchExpression(sought, scope);
      const rows = find.all({ expression, ...place, limit: toRowLimit(count) }).map((row) => ({
        item: revive.account(row.json),
        stored: row.stored,
        cursor: `${row.followers}.${row.platform}.${row.handle}`,
      }));
      return toPage(rows, { count, warnings, isRanked: true });
    },
  };
}

const nothing = 'There is no word in the search that the archive can look for.';

const start = { followers: Number.MAX_VALUE, handle: '', platform: '' };

function parsePlace(cursor: string): typeof start {
  const [, followers, platform = '', handle = ''] =
    /^(-1|\d{1,16})\.([a-z]+)\.(\S{1,512})$/.exec(cursor) ?? [];
  if (followers === undefined) throw unknownCursor();
  return { followers: Number(followers), platform, handle };
}
