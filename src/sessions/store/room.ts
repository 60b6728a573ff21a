import type { Client } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import type { Excess, Ledger } from '../../core/scheduling/ledger.ts';
import type { Candidates, HolderRows, RoomHolding, StoredHolding } from './holder-rows.ts';
import type { SessionRow } from './session-rows.ts';

/** What the store keeps its sessions within. */
export interface StoreBounds {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Returns whether a session is being read. */
  isRead(id: string): boolean;
}

/** A message that is to be stored. */
export interface MessageNeed {
  readonly client: Client | null;
  readonly bytes: number;
  /** Number of its session, which is not evicted for it; 0 for a new one. */
  readonly session: number;
}

/** Keeps what clients hold in the store within bounds. */
export interface Room {
  /** Sets the bounds. Before that there are none. */
  bound(bounds: StoreBounds): void;
  /**
   * Makes room for a message and its turn by evicting sessions.
   *
   * @throws Problem `turn_queue_full`; `overloaded` if no session can be evicted
   */
  demandMessage(need: MessageNeed): void;
  /** Makes room for a session. @throws Problem `overloaded` if none can be evicted */
  demandSession(client: Client | null): void;
  /** Evicts sessions while too many bytes are stored, up to 256 at a time. Returns how many. */
  trim(client: Client | null, session: number): number;
}

/** What room is made with. */
export interface RoomOptions {
  readonly holders: HolderRows;
  /** Ends a session to make room for another, or deletes it to make room for bytes. */
  evict(row: SessionRow, holding: RoomHolding, nowMs: number): void;
}

/** Milliseconds since its last use for which a session is not evicted for other addresses. */
const activeMs = 60_000;

/** Maximum number of sessions evicted by one change: deleting takes time. */
const mostAtOnce = 256;

const storedHoldings = [
  'sessions',
  'sessionBytes',
  'queuedTurns',
] as const satisfies readonly StoredHolding[];

/** Creates the room of a store. */
export function createRoom(options: RoomOptions): Room {
  let bounds: StoreBounds | null = null;
  const make = (need: Need): Made =>
    bounds === null ? { isThere: true, evicted: 0 } : makeRoom(need, bounds, options);
  const demand = (need: Need): void => {
    if (!make(need).isThere) throw noRoom(need.holding);
  };
  return {
    bound: (given) => {
      bounds = given;
      for (const holding of storedHoldings) {
        given.ledger.include(holding, options.holders.accountOf(holding));
      }
    },
    demandMessage: ({ client, bytes: amount, session }) => {
      const excess = bounds?.ledger.findExcess('queuedTurns', client, 1) ?? null;
      if (excess !== null) throw tooManyTurns(excess);
      demand({ holding: 'sessionBytes', client, amount, session });
    },
    demandSession: (client) => demand({ holding: 'sessions', client, amount: 1, session: 0 }),
    trim: (client, session) =>
      make({ holding: 'sessionBytes', client, amount: 0, session }).evicted,
  };
}

/** What is to be held, and by whom. */
interface Need {
  readonly holding: RoomHolding;
  readonly client: Client | null;
  readonly amount: number;
  readonly session: number;
}

interface Made {
  readonly isThere: boolean;
  /** Number of evicted sessions. */
  readonly evicted: number;
}

/** Evicts sessions until there is room for a need. */
function makeRoom(need: Need, bounds: StoreBounds, { holders, evict }: RoomOptions): Made {
  const { holding, client, amount, session } = need;
  const { ledger, clock } = bounds;
  const nowMs = clock.now();
  const candidates = { holding, except: session, unusedSinceMs: nowMs - activeMs };
  let freed = 0;
  for (let evicted = 0; ; evicted += 1) {
    const excess = ledger.findExcess(holding, client, amount);
    // A client that holds more than is left for others has to replace something.
    if (excess === null || (excess === 'share' && freed >= amount)) {
      return { isThere: true, evicted };
    }
    const row = findVictim(excess, client, { holders, candidates });
    if (row === undefined || evicted >= mostAtOnce) return { isThere: false, evicted };
    freed += holding === 'sessions' ? 1 : row.record.storedBytes;
    evict(row, holding, nowMs);
  }
}

interface Finding {
  readonly holders: HolderRows;
  readonly candidates: Candidates;
}

/** Returns the session to evict next. An active one is evicted for its own address only. */
function findVictim(
  excess: Excess,
  client: Client | null,
  { holders, candidates }: Finding,
): SessionRow | undefined {
  const findOwn = () => (client === null ? undefined : holders.findOwn(client.address, candidates));
  switch (excess) {
    case 'address':
    case 'share':
      return findOwn();
    case 'network':
      return holders.findInNetwork(client?.network ?? '', candidates) ?? findOwn();
    case 'total':
      return holders.findAnywhere(candidates) ?? findOwn();
  }
}

const noRoomFor: Readonly<Record<RoomHolding, string>> = {
  sessions: 'All sessions that the server, or this address, may have at once are in use.',
  sessionBytes: 'The sessions of the server, or of this address, take all the room that they may.',
};

function noRoom(holding: RoomHolding): Problem {
  return new Problem('overloaded', { detail: noRoomFor[holding] });
}

function tooManyTurns(excess: Excess): Problem {
  return excess === 'total'
    ? new Problem('overloaded', { detail: 'As many messages wait for an answer as may wait.' })
    : new Problem('turn_queue_full', {
        detail: 'As many messages from this address wait for an answer as may wait.',
      });
}
