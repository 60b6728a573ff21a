import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Account } from '../../core/scheduling/ledger.ts';
import type { RawSession, SessionRow } from './session-rows.ts';

/** The holdings that are counted in the store, by the names of the ledger. */
export type StoredHolding = 'sessions' | 'sessionBytes' | 'queuedTurns';

/** Row of the table `holders`. */
interface HolderRow {
  readonly live: number;
  readonly stored: number;
  readonly pending: number;
}

interface WeighedHolder {
  readonly name: string;
  readonly weight: number;
}

/** The holdings for which sessions are evicted. */
export type RoomHolding = 'sessions' | 'sessionBytes';

/** The sessions that can be evicted. */
export interface Candidates {
  readonly holding: RoomHolding;
  /** Number of the session that is being written. */
  readonly except: number;
  /** Sessions of other addresses are spared if they were used after this instant, or are being read. */
  readonly unusedSinceMs: number;
}

/** The statements about what each client holds. */
export type HolderRows = ReturnType<typeof createHolderRows>;

/** Maximum number of clients whose sessions are searched, the heaviest first. */
const heaviest = 64;

/** The states of sessions that can be evicted, in this order. */
const states = {
  sessions: ['waiting'],
  // An ended session can only be read.
  sessionBytes: ['ended', 'failed', 'waiting'],
} as const satisfies Record<RoomHolding, readonly RawSession['state'][]>;

interface Search {
  readonly name: string;
  readonly state: RawSession['state'];
  readonly except: number;
  readonly unusedSinceMs: number;
  readonly isOwn: 0 | 1;
}

/** What the statements about holders need. */
export interface HolderRowsOptions {
  toRow(raw: RawSession): SessionRow;
  /** Returns whether a session is being read. */
  isRead(id: string): boolean;
}

/** Prepares the statements about what clients hold. */
export function createHolderRows(database: SqliteDatabase, options: HolderRowsOptions) {
  const { find, findAmong } = createSearch(database, options);
  const holder = database.prepare<[string], HolderRow>(
    'SELECT live, stored, pending FROM holders WHERE name = ?',
  );
  const heaviestBy = (column: 'live' | 'stored') =>
    database.prepare<[string], WeighedHolder>(
      `SELECT name, ${column} AS weight FROM holders WHERE parent = ? AND ${column} > 0
       ORDER BY ${column} DESC LIMIT ${heaviest}`,
    );
  const byWeight = { sessions: heaviestBy('live'), sessionBytes: heaviestBy('stored') };
  return {
    /** Returns the account of a holding, for the ledger. */
    accountOf: (holding: StoredHolding): Account => {
      const column = columns[holding];
      const amount = (name: string) => holder.get(name)?.[column] ?? 0;
      return { heldBy: amount, total: () => amount('*') };
    },
    /** Returns the longest unused session of an address, even if it is active. */
    findOwn: (address: string, { holding, except }: Candidates) =>
      find('client', { name: address, except, unusedSinceMs: ever, isOwn: 1 }, holding),
    /** Returns the longest unused session of the heaviest address in a network that has an inactive one. */
    findInNetwork: (network: string, candidates: Candidates) =>
      findAmong('client', byWeight[candidates.holding].all(network), candidates),
    /** Returns the same for the heaviest network or IPv4 address. */
    findAnywhere: (candidates: Candidates) =>
      findAmong('network', byWeight[candidates.holding].all('*'), candidates) ??
      findAmong('anybody', [{ name: '', weight: 0 }], candidates),
  };
}

/** Prepares the search for sessions that can be evicted. */
function createSearch(database: SqliteDatabase, { toRow, isRead }: HolderRowsOptions) {
  database.function('is_read', (id) => Number(isRead(String(id))));
  const oldest = (where: string) =>
    database.prepare<[Search], RawSession>(
      `SELECT * FROM sessions
       WHERE ${where} AND state = $state AND active_ms <= $unusedSinceMs AND number != $except
         AND ($isOwn OR NOT is_read(id))
       ORDER BY active_ms LIMIT 1`,
    );
  const oldestOf = {
    client: oldest('client = $name'),
    network: oldest('network = $name'),
    anybody: oldest(`$name = ''`),
  };
  type Whose = keyof typeof oldestOf;
  const find = (whose: Whose, search: Omit<Search, 'state'>, holding: RoomHolding) => {
    for (const state of states[holding]) {
      const raw = oldestOf[whose].get({ ...search, state });
      if (raw !== undefined) return toRow(raw);
    }
    return undefined;
  };
  /** Returns the longest unused session among the heaviest holders that have an inactive one. */
  const findAmong = (
    whose: Whose,
    holders: readonly WeighedHolder[],
    { holding, except, unusedSinceMs }: Candidates,
  ): SessionRow | undefined => {
    let found: { readonly row: SessionRow; readonly weight: number } | undefined;
    for (const { name, weight } of holders) {
      if (found !== undefined && weight < found.weight) break;
      const row = find(whose, { name, except, unusedSinceMs, isOwn: 0 }, holding);
      if (row !== undefined && isUnusedLonger(row, found?.row)) found = { row, weight };
    }
    return found?.row;
  };
  return { find, findAmong };
}

function isUnusedLonger({ record }: SessionRow, other: SessionRow | undefined): boolean {
  return other === undefined || record.activeMs < other.record.activeMs;
}

/** Later than any instant. */
const ever = Number.MAX_SAFE_INTEGER;

const columns = {
  sessions: 'live',
  sessionBytes: 'stored',
  queuedTurns: 'pending',
} as const satisfies Record<StoredHolding, keyof HolderRow>;
