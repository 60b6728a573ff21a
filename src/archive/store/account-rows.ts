import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Account } from '../../model/account.ts';
import type { AccountReference } from '../../model/reference.ts';
import { platformMark } from '../search/post-words.ts';
import { toWords } from '../search/words.ts';
import { openPut } from './put.ts';
import type { Revive } from './stored-json.ts';

/** `stored`: when it was put here or exported elsewhere, in Unix seconds. */
type StoredAccount = { readonly account: Account; readonly stored: number };

export interface HeldAccount {
  /** Lower case: the name that its rows have. */
  readonly handle: string;
  readonly isProtected: boolean;
  readonly stored: number;
  account(): Account;
}

/** Prepares the table of accounts and the index of their words. */
export function openAccountRows(database: SqliteDatabase, revive: Revive) {
  const columns = 'handle, protected, stored, json';
  // A decentralised identifier is no handle, so both can be asked for at once.
  const find = database.prepare<
    unknown[],
    Pick<HeldAccount, 'handle' | 'stored'> & { readonly protected: number; readonly json: string }
  >(
    `SELECT ${columns} FROM accounts WHERE platform = @platform AND handle = @handle
     UNION ALL
     SELECT ${columns} FROM accounts
     WHERE platform = @platform AND @platform = 'bluesky' AND id = @handle
     LIMIT 1`,
  );
  return {
    /** Adds an account, or replaces the one with its handle unless that one was stored later. */
    putAccount: openAccountWriter(database),
    /** Finds an account by handle, or by id on Bluesky. */
    findAccount: ({ platform, handle }: AccountReference): HeldAccount | undefined => {
      const row = find.get({ platform, handle });
      if (row === undefined) return undefined;
      const { json, protected: isProtected, ...same } = row;
      return { ...same, isProtected: isProtected === 1, account: () => revive.account(json) };
    },
  };
}

/** Prepares the function that returns whether an account is held and protected. */
export function openProtection(database: SqliteDatabase): (account: Account) => boolean {
  const find = database.prepare(
    'SELECT 1 FROM accounts WHERE platform = ? AND handle = ? AND protected = 1',
  );
  return ({ platform, screen_name }) => find.get(platform, screen_name.toLowerCase()) !== undefined;
}

/**
 * Returns SQL for the handle that the rows of an account have which `table.column` names by handle or, as Bluesky's
 * repositories do, by DID. An account that is not held keeps its name.
 */
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
  return openPut(database, ({ account, stored }: StoredAccount) => {
    const { platform, id, followers } = account;
    const handle = account.screen_name.toLowerCase();
    const kept = [followers ?? -1, Number(account.protected), stored, JSON.stringify(account)];
    const number = insert.get(platform, handle, id, ...kept);
    if (number === undefined) return;
    const texts = [account.screen_name, account.name, account.description ?? ''];
    index.run(number, texts.flatMap(toWords).join(' '), platformMark(platform));
  });
}
