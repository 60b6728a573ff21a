import type { SqliteDatabase } from '../../lib/files/sqlite.ts';
import type { Account } from '../../model/account.ts';
import type { AccountReference } from '../../model/reference.ts';
import { platformToken, toWords } from '../search/words.ts';
import { openAtomicWriter } from './post-number.ts';
import type { RowDecoder } from './stored-json.ts';

type StoredAccount = { readonly account: Account; readonly stored: number };

export interface AccountRow {
  /** Handle of the account in lower case. */
  readonly handle: string;
  readonly isProtected: boolean;
  readonly stored: number;
  account(): Account;
}

export function openAccountRows(database: SqliteDatabase, decoder: RowDecoder) {
  const columns = 'handle, protected, stored, json';
  // A DID is never a valid handle, so one query can look for both.
  const find = database.prepare<
    unknown[],
    Pick<AccountRow, 'handle' | 'stored'> & { readonly protected: number; readonly json: string }
  >(
    `SELECT ${columns} FROM accounts WHERE platform = @platform AND handle = @handle
     UNION ALL
     SELECT ${columns} FROM accounts
     WHERE platform = @platform AND @platform = 'bluesky' AND id = @handle
     LIMIT 1`,
  );
  return {
    /** Replaces the account with the same handle, unless the existing account is newer. */
    putAccount: openAccountWriter(database),
    /** Finds an account by handle, or by DID on Bluesky. */
    findAccount: ({ platform, handle }: AccountReference): AccountRow | undefined => {
      const row = find.get({ platform, handle });
      if (row === undefined) return undefined;
      const { json, protected: isProtected, ...same } = row;
      return { ...same, isProtected: isProtected === 1, account: () => decoder.account(json) };
    },
  };
}

export function openProtection(database: SqliteDatabase): (account: Account) => boolean {
  const find = database.prepare(
    'SELECT 1 FROM accounts WHERE platform = ? AND handle = ? AND protected = 1',
  );
  return ({ platform, screen_name }) => find.get(platform, screen_name.toLowerCase()) !== undefined;
}

/** Returns SQL for `table.column` with DIDs of archived Bluesky accounts replaced with handles. */
export function currentHandle(table: string, column: string): string {
  const name = `${table}.${column}`;
  return `ifnull((SELECT handle FROM accounts AS named WHERE ${table}.platform = 'bluesky'
    AND named.platform = 'bluesky' AND named.id = ${name}), ${name})`;
}

function openAccountWriter(database: SqliteDatabase) {
  const insert = database
    .prepare<unknown[], number>(
      `INSERT INTO accounts (platform, handle, id, followers, protected, stored, json)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (platform, handle) DO UPDATE SET id = excluded.id,
         followers = excluded.followers, protected = excluded.protected,
         stored = excluded.stored, json = excluded.json
       WHERE excluded.stored >= stored
       RETURNING number`,
    )
    .pluck();
  const index = database.prepare(
    'INSERT OR REPLACE INTO account_words (rowid, words, marks) VALUES (?, ?, ?)',
  );
  return openAtomicWriter(database, ({ account, stored }: StoredAccount) => {
    const { platform, id, followers } = account;
    const handle = account.screen_name.toLowerCase();
    const rest = [followers ?? -1, Number(account.protected), stored, JSON.stringify(account)];
    const number = insert.get(platform, handle, id, ...rest);
    if (number === undefined) return;
    const texts = [account.screen_name, account.name, account.description ?? ''];
    index.run(number, texts.flatMap(toWords).join(' '), platformToken(platform));
  });
}
