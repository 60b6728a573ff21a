import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Account } from '../../model/account.ts';
import type { AccountReference } from '../../model/reference.ts';
import { platformMark } from '../search/post-words.ts';
import { toWords } from '../search/words.ts';
import { openPut } from './put.ts';
import type { Revive } from './stored-json.ts';

/** An account as it is kept. */
export interface StoredAccount {
  readonly account: Account;
  /** When it was put here or exported elsewhere, in Unix seconds. */
  readonly stored: number;
}

/** An account that the archive holds. */
export interface HeldAccount {
  /** Lower case: what its rows name it by. */
  readonly handle: string;
  readonly isProtected: boolean;
  /** Unix seconds. */
  readonly stored: number;
  /** Reads it. */
  account(): Account;
}

/** The table of accounts and the index of their words. */
export interface AccountRows {
  /**
   * Adds an account, or replaces the one with its handle unless that one was stored later. From then
   * on the archive holds it.
   */
  putAccount(stored: StoredAccount): void;
  /** Finds an account by handle, or by id on Bluesky. */
  findAccount(reference: AccountReference): HeldAccount | undefined;
}

interface AccountRow {
  readonly handle: string;
  readonly protected: number;
  readonly stored: number;
  readonly json: string;
}

/** Prepares what writes and reads accounts. */
export function openAccountRows(database: SqliteDatabase, revive: Revive): AccountRows {
  const columns = 'handle, protected, stored, json';
  // A decentralised identifier is no handle, so both can be asked for at once.
  const find = database.prepare<unknown[], AccountRow>(
    `SELECT ${columns} FROM accounts WHERE platform = @platform AND handle = @handle
     UNION ALL
     SELECT ${columns} FROM accounts
     WHERE platform = @platform AND @platform = 'bluesky' AND id = @handle
     LIMIT 1`,
  );
  return {
    putAccount: openAccountWriter(database),
    findAccount: ({ platform, handle }) => {
      const row = find.get({ platform, handle });
      if (row === undefined) return undefined;
      return {
        handle: row.handle,
        isProtected: row.protected === 1,
        stored: row.stored,
        account: () => revive.account(row.json),
      };
    },
  };
}

/** Prepares what tells whether an account is held and protected. */
export function openProtection(database: SqliteDatabase): (account: Account) => boolean {
  const find = database.prepare(
    'SELECT 1 FROM accounts WHERE platform = ? AND handle = ? AND protected = 1',
  );
  return ({ platform, screen_name }) => find.get(platform, screen_name.toLowerCase()) !== undefined;
}

function openAccountWriter(database: SqliteDatabase): AccountRows['putAccount'] {
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
