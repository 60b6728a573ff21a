import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { type Account, toAccount } from '../../model/account.ts';
import type { ConnectionsQuery, Page } from '../../model/queries.ts';
import { type AccountReference, type Platform, profileUrl } from '../../model/reference.ts';
import { xUserUrl } from '../../platforms/x.ts';
import { idOfHandle } from './id-handle.ts';
import { type Row, toPage, toRowLimit, unknownCursor } from './paging.ts';
import type { Revive } from './stored-json.ts';

/** Who follows whom, both by handle in lower case, or by what stands for it (`toIdHandle`). */
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

const idOfHeld = `(SELECT id FROM accounts AS held
  WHERE held.platform = @platform AND held.handle = @handle)`;

/** Prepares what writes and reads who follows whom. */
export function openConnections(database: SqliteDatabase, teller: Teller): Connections {
  const follow = database.prepare(
    `INSERT INTO follows VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET stored = max(stored, excluded.stored)`,
  );
  const byId = database.prepare<unknown[], Omit<ConnectionRow, 'handle'>>(
    'SELECT stored, protected, json FROM accounts WHERE platform = ? AND id = ? LIMIT 1',
  );
  const identify = (row: ConnectionRow, platform: Platform): ConnectionRow => {
    // Repositories of Bluesky name whom they follow by DID.
    const id = platform === 'bluesky' ? row.handle : idOfHandle(row.handle);
    const isUnknown = id !== null && row.json === null;
    const known = isUnknown ? byId.get(platform, id) : undefined;
    return known === undefined
      ? row
      : { ...row, ...known, stored: Math.min(row.stored, known.stored) };
  };
  const select = (wanted: string, given: string) =>
    database.prepare<unknown[], ConnectionRow>(
      `SELECT ${wanted} AS handle, min(follows.stored, ifnull(accounts.stored, follows.stored)) AS stored,
         accounts.protected, accounts.json
       FROM follows LEFT JOIN accounts
         ON accounts.platform = follows.platform AND accounts.handle = ${wanted}
       WHERE follows.platform = @platform AND ${given} AND ${wanted} > @after
       GROUP BY ${wanted} ORDER BY ${wanted} LIMIT @limit`,
    );
  const statements = {
    followers: select('follower', 'followed = @handle'),
    following: select('followed', 'follower = @handle'),
  };
  const byDid = select('follower', `followed IN (@handle, ${idOfHeld})`);
  return {
    putFollow: ({ platform, follower, followed, stored }) =>
      void follow.run(platform, follower, followed, stored),
    readConnections: ({ platform, handle }, { kind, cursor, count }) => {
      const after = cursor === null ? '' : parseHandleCursor(cursor);
      const statement = platform === 'bluesky' && kind === 'followers' ? byDid : statements[kind];
      const rows = statement.all({ platform, handle, after, limit: toRowLimit(count) });
      return toPage(
        rows.map((row) => toRow(identify(row, platform), platform, teller)),
        { count },
      );
    },
  };
}

function toRow(row: ConnectionRow, platform: Platform, teller: Teller): Row<Account> {
  const { handle, stored, json } = row;
  const isProtected = row.protected === 1;
  const id = idOfHandle(handle);
  const stub = () =>
    toAccount({
      id: id ?? handle,
      screen_name: id ?? handle,
      name: id ?? handle,
      url: id === null ? profileUrl(platform, handle, teller.baseUrl) : xUserUrl(id),
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
