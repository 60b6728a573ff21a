import type { SqliteDatabase } from '../../lib/files/sqlite.ts';
import { type Account, toAccount } from '../../model/account.ts';
import { profileUrl, xUserUrl } from '../../model/addresses/urls.ts';
import type { ConnectionsQuery, Page } from '../../model/queries.ts';
import type { AccountReference, Platform } from '../../model/reference.ts';
import { type Row, toPage, toRowLimit, unknownCursor } from './paging.ts';
import type { RowDecoder } from './stored-json.ts';

export interface StoredFollow {
  readonly platform: Platform;
  readonly follower: string;
  readonly followed: string;
  /** Unix second when the follow was stored; if imported, when its export was made. */
  readonly stored: number;
}

interface ConnectionRow {
  readonly handle: string;
  readonly stored: number;
  readonly protected: number | null;
  readonly json: string | null;
}

const idPrefix = 'id:'; // marks accounts known only by id; handles of X contain no colon

/** Returns the placeholder `id:…` for the unknown handle of an X account. */
export const toIdHandle = (id: string): string => `${idPrefix}${id}`;

const idOfHandle = (handle: string): string | null =>
  handle.startsWith(idPrefix) ? handle.slice(idPrefix.length) : null;

const idOfAccount = `(SELECT id FROM accounts AS named
  WHERE named.platform = @platform AND named.handle = @handle)`;

export function openConnections(database: SqliteDatabase, decoder: RowDecoder) {
  const follow = database.prepare<[StoredFollow]>(
    `INSERT INTO follows VALUES (@platform, @follower, @followed, @stored)
     ON CONFLICT DO UPDATE SET stored = max(stored, excluded.stored)`,
  );
  const byId = database.prepare<unknown[], Omit<ConnectionRow, 'handle'>>(
    'SELECT stored, protected, json FROM accounts WHERE platform = ? AND id = ? LIMIT 1',
  );
  const identify = (row: ConnectionRow, platform: Platform): ConnectionRow => {
    // Bluesky repositories name followed accounts by DID.
    const id = platform === 'bluesky' ? row.handle : idOfHandle(row.handle);
    const known = id !== null && row.json === null ? byId.get(platform, id) : undefined;
    if (known === undefined) return row;
    return { ...row, ...known, stored: Math.min(row.stored, known.stored) };
  };
  const select = (wanted: string, condition: string) =>
    database.prepare<unknown[], ConnectionRow>(
      `SELECT ${wanted} AS handle, min(follows.stored, ifnull(accounts.stored, follows.stored)) AS stored,
         accounts.protected, accounts.json
       FROM follows LEFT JOIN accounts
         ON accounts.platform = follows.platform AND accounts.handle = ${wanted}
       WHERE follows.platform = @platform AND ${condition} AND ${wanted} > @after
       GROUP BY ${wanted} ORDER BY ${wanted} LIMIT @limit`,
    );
  const statements = {
    followers: select('follower', 'followed = @handle'),
    following: select('followed', 'follower = @handle'),
  };
  const byDid = select('follower', `followed IN (@handle, ${idOfAccount})`);
  return {
    putFollow: (stored: StoredFollow) => void follow.run(stored),
    /** Returns a page of accounts. Protected or unarchived ones have no profile data. */
    readConnections: (
      { platform, handle }: AccountReference,
      { kind, cursor, count }: ConnectionsQuery,
    ): Page<Account> => {
      const after = cursor === null ? '' : parseHandleCursor(cursor);
      const statement = platform === 'bluesky' && kind === 'followers' ? byDid : statements[kind];
      const rows = statement
        .all({ platform, handle, after, limit: toRowLimit(count) })
        .map((row) => toRow(identify(row, platform), platform, decoder));
      return toPage(rows, count);
    },
  };
}

function toRow(
  { handle, stored, json, protected: flag }: ConnectionRow,
  platform: Platform,
  decoder: RowDecoder,
): Row<Account> {
  if (json !== null && flag !== 1) return { item: decoder.account(json), stored, cursor: handle };
  const id = idOfHandle(handle);
  const name = id ?? handle;
  const url = id === null ? profileUrl(platform, handle, decoder.baseUrl) : xUserUrl(id);
  const stub = { id: name, screen_name: name, name, url, protected: flag === 1, platform };
  return { item: toAccount(stub), stored, cursor: handle };
}

function parseHandleCursor(cursor: string): string {
  if (!/^[a-z0-9_.:@-]{1,512}$/.test(cursor)) throw unknownCursor();
  return cursor;
}
