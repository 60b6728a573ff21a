import type { Client, Excess, Ledger } from '../access/ledger.ts';
import type { Clock } from '../core/clock.ts';
import { Problem } from '../core/problem.ts';
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
  /** Number of its session, which is not given up for it; 0 for a new one. */
  readonly session: number;
}

/** Keeps what clients hold in the store within bounds. */
export interface Room {
  /** Sets the bounds. Before that there are none. */
  bound(bounds: StoreBounds): void;
  /**
   * Makes room for a message and its turn, by giving up sessions.
   *
   * @throws Problem `turn_queue_full`; `overloaded` if there is none to give up
   */
  demandMessage(need: MessageNeed): void;
  /** Makes room for a session. @throws Problem `overloaded` if there is none to give up */
  demandSession(client: Client | null): void;
  /** Gives up sessions as long as more bytes are stored than may be, a few at a time. Returns how many. */
  trim(client: Client | null, session: number): number;
}

/** What room is made with. */
export interface RoomOptions {
  readonly holders: HolderRows;
  /** Ends a session that is waiting, or deletes one, for room. */
  giveUp(row: SessionRow, holding: RoomHolding, nowMs: number): void;
}

/** A session that was used since is not given up for others. */
const activeMs = 60_000;

/** Maximum number of sessions that are given up at once: deleting takes time. */
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
    bounds === null ? { isThere: true, givenUp: 0 } : makeRoom(need, bounds, options);
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
      make({ holding: 'sessionBytes', client, amount: 0, session }).givenUp,
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
  /** How many sessions were given up. */
  readonly givenUp: number;
}

/** Gives up sessions until there is room for a need. */
function makeRoom(need: Need, bounds: StoreBounds, { holders, giveUp }: RoomOptions): Made {
  const { holding, client, amount, session } = need;
  const { ledger, clock } = bounds;
  const nowMs = clock.now();
  const candidates = { holding, except: session, unusedSinceMs: nowMs - activeMs };
  let freed = 0;
  for (let givenUp = 0; ; givenUp += 1) {
    const excess = ledger.findExcess(holding, client, amount);
    // Whoever holds more than is left for others replaces what was there.
    if (excess === null || (excess === 'share' && freed >= amount)) {
      return { isThere: true, givenUp };
    }
    const row = findToGiveUp(excess, client, { holders, candidates });
    if (row === undefined || givenUp >= mostAtOnce) return { isThere: false, givenUp };
    freed += holding === 'sessions' ? 1 : row.record.storedBytes;
    giveUp(row, holding, nowMs);
  }
}

interface Finding {
  readonly holders: HolderRows;
  readonly candidates: Candidates;
}

/** Finds the session that is given up next. Only to its own address an active one can be lost. */
function findToGiveUp(
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
