import type { Client } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { Problem } from '../../core/problem.ts';
import type { Excess, Ledger } from '../../core/scheduling/ledger.ts';
import { type RawSession, type SessionRow, sessionColumns } from './session-rows.ts';

export interface StoreBounds {
  readonly ledger: Ledger;
  readonly clock: Clock;
  isRead(id: string): boolean;
}

/** The holdings for which sessions are evicted. */
type Holding = 'sessions' | 'sessionBytes';

interface RoomOptions {
  toRow(raw: RawSession): SessionRow;
  /** Ends a session to make room for another, or deletes it to make room for bytes. */
  evict(row: SessionRow, holding: Holding, nowMs: number): void;
}

interface Need {
  readonly holding: Holding;
  readonly client: Client | null;
  readonly amount: number;
  /** Number of the session that is written, which is not evicted for it; 0 for a new one. */
  readonly session: number;
}

/** Milliseconds since its last use for which a session is not evicted for other addresses. */
const activeMs = 60_000;
/** Maximum number of sessions evicted by one change: deleting takes time. */
const mostAtOnce = 256;

/** Creates the room of a store, which keeps what clients hold within bounds. There are none before `bound`. */
export function createRoom(database: SqliteDatabase, { toRow, evict }: RoomOptions) {
  let bounds: StoreBounds | null = null;
  const isRead = (id: string) => bounds?.isRead(id) === true;
  const findVictim = createSearch(database, { toRow, isRead });
  const make = (need: Need) =>
    bounds === null ? { isThere: true, evicted: 0 } : makeRoom(need, bounds, { findVictim, evict });
  const demand = (need: Need): void => {
    if (make(need).isThere) return;
    throw new Problem('overloaded', { detail: noRoomFor[need.holding] });
  };
  return {
    bound: (given: StoreBounds): void => {
      bounds = given;
      includeHolders(database, given.ledger);
    },
    /** Makes room for a message and its turn. @throws Problem `turn_queue_full`; `overloaded` if none can be evicted */
    demandMessage: (client: Client | null, amount: number, session: number): void => {
      const excess = bounds?.ledger.findExcess('queuedTurns', client, 1) ?? null;
      if (excess !== null) throw tooManyTurns(excess);
      demand({ holding: 'sessionBytes', client, amount, session });
    },
    /** Makes room for a session. @throws Problem `overloaded` if none can be evicted */
    demandSession: (client: Client | null): void =>
      demand({ holding: 'sessions', client, amount: 1, session: 0 }),
    /** Evicts sessions while too many bytes are stored, up to 256 at a time. Returns how many. */
    trim: (client: Client | null, session: number): number =>
      make({ holding: 'sessionBytes', client, amount: 0, session }).evicted,
  };
}

interface Evicting extends Pick<RoomOptions, 'evict'> {
  findVictim(excess: Excess, need: Need, unusedSinceMs: number): SessionRow | undefined;
}

function makeRoom(need: Need, { ledger, clock }: StoreBounds, { findVictim, evict }: Evicting) {
  const { holding, client, amount } = need;
  const nowMs = clock.now();
  let freed = 0;
  for (let evicted = 0; ; evicted += 1) {
    const excess = ledger.findExcess(holding, client, amount);
    // A client that holds more than is left for others has to replace something.
    const isThere = excess === null || (excess === 'share' && freed >= amount);
    if (isThere) return { isThere, evicted };
    const row = findVictim(excess, need, nowMs - activeMs);
    if (row === undefined || evicted >= mostAtOnce) return { isThere: false, evicted };
    freed += holding === 'sessions' ? 1 : row.record.storedBytes;
    evict(row, holding, nowMs);
  }
}

const noRoomFor: Readonly<Record<Holding, string>> = {
  sessions: 'All sessions that the server, or this address, may have at once are in use.',
  sessionBytes: 'The sessions of the server, or of this address, take all the room that they may.',
};

function tooManyTurns(excess: Excess): Problem {
  const [code, of] =
    excess === 'total'
      ? (['overloaded', ''] as const)
      : (['turn_queue_full', ' from this address'] as const);
  return new Problem(code, { detail: `As many messages${of} wait for an answer as may wait.` });
}

/** The holdings that are counted in the table `holders`, and their columns. */
const columns = [
  ['sessions', 'live'],
  ['sessionBytes', 'stored'],
  ['queuedTurns', 'pending'],
] as const;

function includeHolders(database: SqliteDatabase, ledger: Ledger): void {
  for (const [holding, column] of columns) {
    const sql = `SELECT ${column} FROM holders WHERE name = ?`;
    const held = database.prepare<[string], number>(sql).pluck();
    const usedBy = (name: string) => held.get(name) ?? 0;
    ledger.include(holding, { usedBy, total: () => usedBy('*') });
  }
}

/** Maximum number of clients whose sessions are searched, the heaviest first. */
const heaviest = 64;

/** The states of sessions that can be evicted, in this order. An ended session can only be read. */
const states: Readonly<Record<Holding, readonly RawSession['state'][]>> = {
  sessions: ['waiting'],
  sessionBytes: ['ended', 'failed', 'waiting'],
};

/** A search among the sessions of `name`. Only sessions of the caller's own address are evicted while they are read. */
type Search = Readonly<{ name: string; except: number; unusedSinceMs: number; isOwn: 0 | 1 }>;

type Holder = Readonly<{ name: string; weight: number }>;

type SearchOptions = Pick<RoomOptions, 'toRow'> & Pick<StoreBounds, 'isRead'>;

/** Prepares the search for the session to evict next. An active one is evicted for its own address only. */
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
    anybody: oldest(`$name = ''`),
  };
  const heaviestBy = (column: string) =>
    database.prepare<[string], Holder>(
      `SELECT name, ${column} AS weight FROM holders WHERE parent = ? AND ${column} > 0
       ORDER BY ${column} DESC LIMIT ${heaviest}`,
    );
  const holdersBy = { sessions: heaviestBy('live'), sessionBytes: heaviestBy('stored') };

  const find = (whose: keyof typeof oldestOf, search: Search, holding: Holding) => {
    for (const state of states[holding]) {
      const raw = oldestOf[whose].get({ ...search, state });
      if (raw !== undefined) return toRow(raw);
    }
    return undefined;
  };
  const findBelow = (parent: string, search: Omit<Search, 'name'>, holding: Holding) => {
    const whose = parent === '*' ? 'network' : 'client';
    const holders = holdersBy[holding].all(parent);
    return findOfHeaviest(holders, (name) => find(whose, { ...search, name }, holding));
  };
  return (excess: Excess, { holding, client, session }: Need, unusedSinceMs: number) => {
    const others = { except: session, unusedSinceMs, isOwn: 0 } as const;
    const own = { except: session, unusedSinceMs: Number.MAX_SAFE_INTEGER, isOwn: 1 } as const;
    const findOwn = () => client && find('client', { ...own, name: client.address }, holding);
    const findAnywhere = () =>
      findBelow('*', others, holding) ?? find('anybody', { ...others, name: '' }, holding);
    switch (excess) {
      case 'address':
      case 'share':
        return findOwn() ?? undefined;
      case 'network':
        return findBelow(client?.network ?? '', others, holding) ?? findOwn() ?? undefined;
      case 'total':
        return findAnywhere() ?? findOwn() ?? undefined;
    }
  };
}

/** Returns the longest unused session of the heaviest holders that have an inactive one. */
function findOfHeaviest(
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
