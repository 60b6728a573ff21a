import { toClient } from '../access/client-address.ts';
import type { AnswerEngine } from '../answers/answer.ts';
import type { Client } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { Problem } from '../core/problem.ts';
import type { Random } from '../core/random.ts';
import type { Hold, Ledger } from '../core/scheduling/ledger.ts';
import { type CallRates, createCallRates } from './http/rate-limit.ts';
import { type ContinuationTokens, createContinuationTokens, createMark } from './http/tokens.ts';
import { createSessionIds, type SessionIds } from './ids.ts';
import { type LifeLimits, startExpiry } from './store/expiry.ts';
import { toStoreProblem } from './store/group-commit.ts';
import type { Commit, SessionStore, StampEvent } from './store/sqlite-store.ts';
import { endTurn, isLive, type SessionLimits, type SessionRecord } from './store/state.ts';
import { createStreams, type StreamLimits, type Streams } from './streams/streams.ts';
import { type AwaitedWork, createFairWork, runFairly } from './turns/fair-work.ts';
import { failures } from './turns/turn-run.ts';
import { createTurns, type Turns, type TurnsOptions } from './turns/turns.ts';

/** Every limit of the session service. */
export interface ServiceLimits extends SessionLimits, LifeLimits, StreamLimits {
  readonly messageBytes: number;
  readonly bodyBytes: number;
  readonly turnMs: number;
  /** Turns at work at once. */
  readonly turnsAtOnce: number;
  readonly startsPerMinute: number;
  readonly startBurst: number;
  /** Messages of one address. */
  readonly messagesPerMinute: number;
}

/** What the session service is built of. */
export interface ServiceOptions {
  readonly engine: AnswerEngine;
  readonly clock: Clock;
  readonly random: Random;
  /** The server's secret: owner marks and continuation tokens are made with it. */
  readonly secret: Buffer;
  readonly limits: ServiceLimits;
  /** Bounds what each client holds: sessions, their bytes, turns and streams. */
  readonly ledger: Ledger;
  /** Opens where sessions are kept. It is closed with the service. */
  readonly openStore: (stamp: StampEvent) => SessionStore;
  /** Is told of what went wrong, for the log; never of what was said. */
  readonly onFault: (error: unknown, doing: string) => void;
}

/** How much is going on, for the operator. */
export interface SessionFigures {
  readonly live: number;
  readonly turnsAtWork: number;
  readonly turnsWaiting: number;
  readonly streams: number;
  readonly storedBytes: number;
}

/** Work for a client that takes the place of a turn. */
export type BesideTurns<Value> = Pick<AwaitedWork<Value>, 'client' | 'signal' | 'run'>;

/** The session service without its routes. */
export interface SessionService {
  readonly store: SessionStore;
  readonly turns: Turns;
  readonly streams: Streams;
  readonly rates: CallRates;
  readonly clients: Clients;
  readonly tokens: ContinuationTokens;
  readonly ids: SessionIds;
  readonly secret: Buffer;
  readonly clock: Clock;
  readonly limits: ServiceLimits;
  readonly isDraining: boolean;
  /** @throws Problem `not_ready`, `shutting_down` */
  refuseUnlessReady(): void;
  /**
   * Runs other work in the place of a turn, once it is its client's turn. Rejects with Problem
   * `overloaded`, `shutting_down` or `not_ready`, or as the work does.
   */
  runBesideTurns<Value>(work: BesideTurns<Value>): Promise<Value>;
  figures(): Promise<SessionFigures>;
  /** Takes no more messages, and begins no more turns; those at work go on. */
  startDraining(): void;
  /** Ends the turns at work as interrupted, then the streams. */
  cutOff(): Promise<void>;
  /** Cuts off, and closes the store. */
  close(): Promise<void>;
}

/**
 * Opens the session service: recovers what a crash has interrupted, and works off what waits. Close
 * it with `close()`.
 */
export async function openSessionService(options: ServiceOptions): Promise<SessionService> {
  const { engine, clock, random, secret, limits, ledger, onFault } = options;
  const ids = createSessionIds(clock, random);
  const store = options.openStore((index) => ({ id: ids.event(), atMs: clock.now(), index }));
  const work = createFairWork({ atOnce: limits.turnsAtOnce, clock, isReady: () => engine.isReady });
  const hasRoom = createRoomCheck(ledger);
  const turns = createTurns({ store, engine, clock, limits, work, hasRoom, onFault });
  const streams = createStreams({ store, clock, limits, ledger, onFault });
  store.bound({ ledger, clock, isRead: streams.isRead });
  try {
    const left = await recoverSessions({ store, clock, limits });
    for (const record of left) turns.attend(record);
  } catch (error) {
    await streams.endAll();
    store.close();
    throw error;
  }
  store.onCommit((commit) => {
    streams.publish(commit);
    attendTo(commit, turns);
  });
  const expiry = startExpiry({ store, clock, limits, onFault });
  const ending = createEnding({ store, turns, streams, stopAgeing: expiry.stop });
  return {
    store,
    turns,
    streams,
    rates: createRates(limits, clock),
    clients: createClients(secret),
    tokens: createContinuationTokens(secret),
    ids,
    secret,
    clock,
    limits,
    get isDraining() {
      return ending.isDraining;
    },
    refuseUnlessReady: () => {
      if (ending.isDraining) throw shuttingDown();
      if (!engine.isReady) throw notReady();
    },
    runBesideTurns: async (beside) => {
      const place = takeTurn(ledger, beside.client);
      const id = ids.delivery();
      try {
        return await runFairly(work, { ...beside, key: id, order: id, toDropped: shuttingDown });
      } finally {
        place.release();
      }
    },
    figures: async () => ({
      live: await store.countLive(),
      turnsAtWork: turns.atWork,
      turnsWaiting: work.waiting,
      streams: streams.open,
      storedBytes: ledger.totalOf('sessionBytes'),
    }),
    startDraining: ending.startDraining,
    cutOff: ending.cutOff,
    close: ending.close,
  };
}

/** An answer may take a little more than there is; what is over its bound before that gets none. */
function createRoomCheck(ledger: Ledger): TurnsOptions['hasRoom'] {
  return (client) => [null, 'share'].includes(ledger.findExcess('sessionBytes', client, 0));
}

/** Takes a turn that is not stored. @throws Problem `overloaded`, `not_ready` */
function takeTurn(ledger: Ledger, client: Client | null): Hold {
  const place = ledger.open('queuedTurns', client);
  let isTaken = false;
  try {
    isTaken = place.take(1);
  } catch (error) {
    throw toStoreProblem(error); // the turns of sessions are counted in the store
  }
  if (isTaken) return place;
  throw new Problem('overloaded', { detail: 'Too many questions wait for an answer.' });
}

function createRates(limits: ServiceLimits, clock: Clock): CallRates {
  const { startsPerMinute, startBurst, messagesPerMinute } = limits;
  return createCallRates({
    starts: { perMinute: startsPerMinute, burst: startBurst },
    // A third of a minute's at once, as starts have it by default.
    messages: {
      perMinute: messagesPerMinute,
      burst: Math.max(1, Math.floor(messagesPerMinute / 3)),
    },
    clock,
  });
}

/** Whatever was recorded: the turn at the front is seen to, and none goes on in a session that has ended. */
function attendTo(commit: Commit, turns: Turns): void {
  for (const [sessionId, record] of commit) {
    if (record !== undefined && isLive(record.state)) turns.attend(record);
    else turns.drop(sessionId);
  }
}

interface EndingOptions {
  readonly store: SessionStore;
  readonly turns: Turns;
  readonly streams: Streams;
  readonly stopAgeing: () => void;
}

/** The order of a shutdown. */
function createEnding({ store, turns, streams, stopAgeing }: EndingOptions) {
  let isDraining = false;
  let cut: Promise<void> | null = null;
  const startDraining = (): void => {
    isDraining = true;
    turns.startDraining();
  };
  const cutOff = (): Promise<void> => {
    startDraining();
    stopAgeing();
    // Readers get a whole turn before their streams end.
    cut ??= turns.interrupt().then(() => streams.endAll());
    return cut;
  };
  return {
    get isDraining() {
      return isDraining;
    },
    startDraining,
    cutOff,
    close: async (): Promise<void> => {
      await cutOff();
      store.close();
    },
  };
}

function shuttingDown(): Problem {
  return new Problem('shutting_down', { detail: 'This process is about to stop.' });
}

function notReady(): Problem {
  return new Problem('not_ready', { detail: 'The index of the answers is being built.' });
}

/** Names clients by keyed hashes, so that no address is stored. */
interface Clients {
  /** Returns the client behind an address, as `toClientAddress` names it. */
  at(address: string): Client;
}

/** Creates the names of clients under the server's secret. */
function createClients(secret: Buffer): Clients {
  return {
    at: (address) => {
      const { network } = toClient(address);
      return {
        address: createMark(secret, 'address', address),
        network: network === null ? null : createMark(secret, 'network', network),
      };
    },
  };
}

/** What recovery needs. */
interface RecoveryOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly limits: SessionLimits;
}

/**
 * Ends what a crash has interrupted: each turn that was at work fails with `turn_interrupted`, so that
 * no reader waits for it. Gives the sessions that have messages left to answer.
 * Run it before anybody is let in.
 */
async function recoverSessions({
  store,
  clock,
  limits,
}: RecoveryOptions): Promise<readonly SessionRecord[]> {
  const left: SessionRecord[] = [];
  const recover = async (record: SessionRecord): Promise<void> => {
    const [front] = record.pending;
    if (front === undefined) return;
    if (!front.isBegun) {
      left.push(record);
      return;
    }
    const failure = failures.interrupted;
    const end = { kind: 'failed', failure, unsent: null, nowMs: clock.now() } as const;
    const { sequence } = front;
    const after = await store.change(record.id, (now) => endTurn(now, { sequence, end }, limits));
    if (after?.state === 'running') left.push(after);
  };
  for await (const records of store.list('running')) {
    await Promise.all(records.map(recover)); // one commit for all of them
  }
  return left;
}
