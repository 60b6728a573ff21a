import type { SqliteDatabase } from '../../core/sqlite.ts';
import { type Account, toAccount } from '../../model/account.ts';
import { type AccountReference, type Platform, profileUrl } from '../../model/reference.ts';
import type { ConnectionsQuery, Page } from '../provider.ts';
import { type Row, toPage, toRowLimit, unknownCursor } from './paging.ts';
import type { Revive } from './stored-json.ts';

/** Who follows whom, both by handle in lower case. */
export interface StoredFollow {
  readonly platform: Platform;
  readonly follower: string;
  readonly followed: string;
  /** When it was put here or exported elsewhere, in Unix seconds. */
  readonly stored: number;
}

/** The table of who follows whom. */
export interface Connections {
  putFollow(stored: StoredFollow): void;
  /**
   * Reads who follows an account or whom it follows, ordered by handle: an export need not say since
   * when. Of an account that is not held, or is protected, no more than its handle is told.
   */
  readConnections(of: AccountReference, query: ConnectionsQuery): Page<Account>;
}

interface ConnectionRow {
  readonly handle: string;
  readonly stored: number;
  readonly protected: number | null;
  readonly json: string | null;
}

/** What is needed to tell of a connected account. */
interface Teller {
  readonly revive: Revive;
  readonly baseUrl: string;
}

/** Prepares what writes and reads who follows whom. */
export function openConnections(database: SqliteDatabase, teller: Teller): Connections {
  const follow = database.prepare(
    `INSERT INTO follows VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET stored = max(stored, excluded.stored)`,
  );
  const select = (wanted: string, given: string) =>
    database.prepare<unknown[], ConnectionRow>(
      `SELECT ${wanted} AS handle, min(follows.stored, ifnull(accounts.stored, follows.stored)) AS stored,
         accounts.protected, accounts.json
       FROM follows LEFT JOIN accounts
         ON accounts.platform = follows.platform AND accounts.handle = ${wanted}
       WHERE follows.platform = ? AND ${given} = ? AND ${wanted} > ? ORDER BY ${wanted} LIMIT ?`,
    );
  const statements = {
    followers: select('follower', 'followed'),
    following: select('followed', 'follower'),
  };
  return {
    putFollow: ({ platform, follower, followed, stored }) =>
      void follow.run(platform, follower, followed, stored),
    readConnections: ({ platform, handle }, { kind, cursor, count }) => {
      const after = cursor === null ? '' : parseHandleCursor(cursor);
      const rows = statements[kind].all(platform, handle, after, toRowLimit(count));
      return toPage(
        rows.map((row) => toRow(row, platform, teller)),
        { count },
      );
    },
  };
}

function toRow(row: ConnectionRow, platform: Platform, teller: Teller): Row<Account> {
  const { handle, stored, json } = row;
  const isProtected = row.protected === 1;
  const stub = () =>
    toAccount({
      id: handle,
      screen_name: handle,
      name: handle,
      url: profileUrl(platform, handle, teller.baseUrl),
      protected: isProtected,
      platform,
    });
  const item = json === null || isProtected ? stub() : teller.revive.account(json);
  return { item, stored, cursor: handle };
}

function parseHandleCursor(cursor: string): string {
  if (!/^[a-z0-9_.:@-]{1,512}$/.test(cursor)) throw unknownCursor();
  return cursor;
}
