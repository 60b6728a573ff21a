import type { Client } from '../../core/caller.ts';
import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { Problem } from '../../core/problem.ts';
import type { Excess, Quotas } from '../../core/scheduling/quotas.ts';
import { type RawSession, type SessionRow, sessionColumns } from './session-rows.ts';
import type { StoreBounds } from './session-store.ts';

/** Quantity that eviction can reduce: number of sessions, or their stored bytes. */
export type Quantity = 'sessions' | 'sessionBytes';

interface RoomOptions {
  toRow(raw: RawSession): SessionRow;
  /** Ends a session for `sessions`; deletes it for `sessionBytes`. */
  evict(row: SessionRow, quantity: Quantity, nowMs: number): void;
}

interface Need {
  readonly quantity: Quantity;
  readonly client: Client | null;
  readonly amount: number;
  /** Row number of the session that needs space, which is not evicted; 0 for a new one. */
  readonly session: number;
}

const activeMs = 60_000; // more recently used sessions are not evicted for other addresses
const maxEvictions = 256; // maximum number per change, because deleting is slow

/** Creates functions that evict sessions. No limits apply before the first `setBounds`. */
export function createRoom(database: SqliteDatabase, { toRow, evict }: RoomOptions) {
  let bounds: StoreBounds | null = null;
  const isRead = (id: string) => bounds?.isRead(id) === true;
  const findVictim = createSearch(database, { toRow, isRead });
  const tryMakeRoom = (need: Need) =>
    bounds === null ? { hasRoom: true, evicted: 0 } : makeRoom(need, bounds, { findVictim, evict });
  const makeRoomOrThrow = (need: Need): void => {
    if (tryMakeRoom(need).hasRoom) return;
    throw new Problem('overloaded', { detail: overloadDetails[need.quantity] });
  };
  return {
    setBounds: (next: StoreBounds): void => {
      bounds = next;
      registerHolders(database, next.ledger);
    },
    /** Returns whether storage allows a new answer. Running ones may exceed limits slightly. */
    hasRoom: (client: Client | null): boolean =>
      [null, undefined, 'share'].includes(bounds?.ledger.findExcess('sessionBytes', client, 0)),
    /**
     * Checks the limits on unanswered messages. Then evicts other sessions until `amount` bytes fit
     * into the session with the row number `session`.
     * @throws Problem `turn_queue_full` if the client or its network has too many unanswered
     *   messages; `overloaded` if all clients together have, or if no session can be evicted
     */
    admitMessage: (client: Client | null, amount: number, session: number): void => {
      const excess = bounds?.ledger.findExcess('queuedTurns', client, 1) ?? null;
      if (excess !== null) throw tooManyTurns(excess);
      makeRoomOrThrow({ quantity: 'sessionBytes', client, amount, session });
    },
    /** Evicts sessions for a new one. @throws Problem `overloaded` if none can be evicted */
    admitSession: (client: Client | null): void =>
      makeRoomOrThrow({ quantity: 'sessions', client, amount: 1, session: 0 }),
    /**
     * Evicts sessions until the bytes of the client, its network and all clients (only these if
     * `client` is `null`) are within their limits. Stops after 256, or if none may be evicted;
     * never evicts `session`. Returns the number of evicted sessions.
     */
    trim: (client: Client | null, session: number): number =>
      tryMakeRoom({ quantity: 'sessionBytes', client, amount: 0, session }).evicted,
  };
}

interface Evicting extends Pick<RoomOptions, 'evict'> {
  findVictim(excess: Excess, need: Need, unusedSinceMs: number): SessionRow | undefined;
}

function makeRoom(need: Need, { ledger, clock }: StoreBounds, { findVictim, evict }: Evicting) {
  const { quantity, client, amount } = need;
  const nowMs = clock.now();
  let freed = 0;
  for (let evicted = 0; ; evicted += 1) {
    const excess = ledger.findExcess(quantity, client, amount);
    // A client that exceeds its share has to replace its own sessions.
    const hasRoom = excess === null || (excess === 'share' && freed >= amount);
    if (hasRoom) return { hasRoom, evicted };
    const row = findVictim(excess, need, nowMs - activeMs);
    if (row === undefined || evicted >= maxEvictions) return { hasRoom: false, evicted };
    freed += quantity === 'sessions' ? 1 : row.record.storedBytes;
    evict(row, quantity, nowMs);
  }
}

export const overloadDetails: Readonly<Record<Quantity, string>> = {
  sessions:
    'The server or this address has reached the maximum number of sessions (`PERCH_SESSION_LIVE`, `PERCH_SESSION_LIVE_PER_ADDRESS`), and all are in use.',
  sessionBytes:
    'The sessions of the server or of this address have reached the storage limit (`PERCH_SESSION_BYTES`, `PERCH_SESSION_BYTES_PER_ADDRESS`).',
};

const tooMany = 'has reached the maximum number of waiting and running questions';

/** Reasons to refuse a question because too many others wait or run, by exceeded limit. */
export const turnDetails: Readonly<Record<Excess, string>> = {
  address: `This address ${tooMany} (\`PERCH_SESSION_TURNS_PER_ADDRESS\`).`,
  network: `This IPv6 /48 network ${tooMany} (four times \`PERCH_SESSION_TURNS_PER_ADDRESS\`).`,
  share: `This address or network ${tooMany}, half of all (\`PERCH_SESSION_WAITING_TURNS\`).`,
  total: `The server ${tooMany} (\`PERCH_SESSION_WAITING_TURNS\`).`,
};

export function tooManyTurns(excess: Excess): Problem {
  const code = excess === 'total' ? 'overloaded' : 'turn_queue_full';
  return new Problem(code, { detail: turnDetails[excess] });
}

const columns = [
  ['sessions', 'live'],
  ['sessionBytes', 'stored'],
  ['queuedTurns', 'pending'],
] as const;

function registerHolders(database: SqliteDatabase, ledger: Quotas): void {
  for (const [quantity, column] of columns) {
    const sql = `SELECT ${column} FROM holders WHERE name = ?`;
    const amount = database.prepare<[string], number>(sql).pluck();
    const usedBy = (name: string) => amount.get(name) ?? 0;
    ledger.include(quantity, { usedBy, total: () => usedBy('*') });
  }
}

const maxHolders = 64; // number of searched clients, those with the most sessions or bytes first

const evictableStates: Readonly<Record<Quantity, readonly RawSession['state'][]>> = {
  sessions: ['waiting'],
  sessionBytes: ['ended', 'failed', 'waiting'],
};

interface Search {
  /** Name of the client or network whose sessions are searched; an empty string for all clients. */
  readonly name: string;
  readonly except: number;
  /** Unix milliseconds. Only sessions last used at or before this time may be evicted. */
  readonly unusedSinceMs: number;
  /** 1 for only the client's own sessions, which may have open streams then; otherwise 0. */
  readonly isOwn: 0 | 1;
}

type Holder = Readonly<{ name: string; weight: number }>;
type SearchOptions = Pick<RoomOptions, 'toRow'> & Pick<StoreBounds, 'isRead'>;

function createSearch(database: SqliteDatabase, { toRow, isRead }: SearchOptions) {
  database.function('is_read', (id) => Number(isRead(String(id))));
  const oldest = (where: string) =>
    database.prepare<[Search & { readonly state: string }], RawSession>(
      `SELECT ${sessionColumns} FROM sessions
       WHERE ${where} AND state = $state AND active_ms <= $unusedSinceMs AND number != $except
         AND ($isOwn OR NOT is_read(id))
       ORDER BY active_ms LIMIT 1`,
    );
  const oldestOf = {
    client: oldest('client = $name'),
    network: oldest('network = $name'),
    anyone: oldest(`$name = ''`),
  };
  const heaviestBy = (column: string) =>
    database.prepare<[string], Holder>(
      `SELECT name, ${column} AS weight FROM holders WHERE parent = ? AND ${column} > 0
       ORDER BY ${column} DESC LIMIT ${maxHolders}`,
    );
  const holdersBy = { sessions: heaviestBy('live'), sessionBytes: heaviestBy('stored') };
  const find = (whose: keyof typeof oldestOf, search: Search, quantity: Quantity) => {
    for (const state of evictableStates[quantity]) {
      const raw = oldestOf[whose].get({ ...search, state });
      if (raw !== undefined) return toRow(raw);
    }
    return undefined;
  };
  const findBelow = (parent: string, search: Omit<Search, 'name'>, quantity: Quantity) => {
    const whose = parent === '*' ? 'network' : 'client';
    const holders = holdersBy[quantity].all(parent);
    return findInHeaviest(holders, (name) => find(whose, { ...search, name }, quantity));
  };
  return (excess: Excess, { quantity, client, session }: Need, unusedSinceMs: number) => {
    const others = { except: session, unusedSinceMs, isOwn: 0 } as const;
    const own = { except: session, unusedSinceMs: Number.MAX_SAFE_INTEGER, isOwn: 1 } as const;
    const findOwn = () => client && find('client', { ...own, name: client.address }, quantity);
    const findAnywhere = () =>
      findBelow('*', others, quantity) ?? find('anyone', { ...others, name: '' }, quantity);
    switch (excess) {
      case 'address':
      case 'share':
        return findOwn() ?? undefined;
      case 'network':
        return findBelow(client?.network ?? '', others, quantity) ?? findOwn() ?? undefined;
      case 'total':
        return findAnywhere() ?? findOwn() ?? undefined;
    }
  };
}

/** Selects the least recently used session of the heaviest of `holders`, which must be sorted. */
function findInHeaviest(
  holders: readonly Holder[],
  findOf: (name: string) => SessionRow | undefined,
): SessionRow | undefined {
  let found: { readonly row: SessionRow; readonly weight: number } | undefined;
  for (const { name, weight } of holders) {
    if (found !== undefined && weight < found.weight) break;
    const row = findOf(name);
    const foundMs = found?.row.record.activeMs ?? Number.POSITIVE_INFINITY;
    if (row !== undefined && row.record.activeMs < foundMs) found = { row, weight };
  }
  return found?.row;
}
