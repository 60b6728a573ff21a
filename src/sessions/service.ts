import { toClient } from '../access/client-address.ts';
import type { AnswerEngine } from '../answers/answer.ts';
import type { Client } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { Problem } from '../core/problem.ts';
import type { Random } from '../core/random.ts';
import type { Ledger, Reservation } from '../core/scheduling/ledger.ts';
import { createCallRates } from './http/rate-limit.ts';
import { createContinuationTokens, createMark } from './http/tokens.ts';
import { createSessionIds } from './ids.ts';
import { type LifeLimits, startExpiry } from './store/expiry.ts';
import { toStoreProblem } from './store/group-commit.ts';
import type { SessionStore, StampEvent } from './store/sqlite-store.ts';
import { endTurn, isLive, type SessionLimits, type SessionRecord } from './store/state.ts';
import { createStreams, type StreamLimits } from './streams/streams.ts';
import { createFairWork, runFairly } from './turns/fair-work.ts';
import { failures } from './turns/turn-run.ts';
import { createTurns } from './turns/turns.ts';

/** Limits of the service. `messagesPerMinute` is for one address. */
export interface ServiceLimits extends SessionLimits, LifeLimits, StreamLimits {
  readonly messageBytes: number;
  readonly bodyBytes: number;
  readonly turnMs: number;
  readonly turnsAtOnce: number;
  readonly startsPerMinute: number;
  readonly startBurst: number;
  readonly messagesPerMinute: number;
}

interface ServiceOptions {
  readonly engine: AnswerEngine;
  readonly clock: Clock;
  readonly random: Random;
  /** The server's secret, with which owner marks and continuation tokens are made. */
  readonly secret: Buffer;
  readonly limits: ServiceLimits;
  /** Bounds what each client holds: sessions, their bytes, turns and streams. */
  readonly ledger: Ledger;
  /** Opens the store of sessions, which is closed with the service. */
  readonly openStore: (stamp: StampEvent) => SessionStore;
  /** Called with faults, for the log; never with what was said. */
  readonly onFault: (error: unknown, doing: string) => void;
}

/** Work for a client that takes the place of a turn. `signal` ends the wait for a place. */
interface BesideTurns<Value> {
  readonly client: Client;
  readonly signal: AbortSignal;
  run(): Promise<Value>;
}

/** The session service without its routes. */
export type SessionService = Awaited<ReturnType<typeof openSessionService>>;

/** Opens the session service, which goes on after a crash with the messages that wait. Close it with `close()`. */
export async function openSessionService(options: ServiceOptions) {
  const { engine, clock, random, secret, limits, ledger } = options;
  const ids = createSessionIds(clock, random);
  const parts = await openParts(options, ids.event);
  const { store, work, turns, streams } = parts;
  const { startDraining, cutOff, close, isDraining } = createShutdown(parts);
  return {
    store,
    turns,
    streams,
    rates: createRates(limits, clock),
    tokens: createContinuationTokens(secret),
    ids,
    secret,
    clock,
    limits,
    /** Returns the client behind an address, as `toClientAddress` names it, by keyed hashes: no address is stored. */
    toClient: (name: string): Client => {
      const { network } = toClient(name);
      return {
        address: createMark(secret, 'address', name),
        network: network === null ? null : createMark(secret, 'network', network),
      };
    },
    /** @throws Problem `not_ready`, `shutting_down` */
    refuseUnlessReady: (): void => {
      if (isDraining()) throw shuttingDown();
      if (engine.isReady) return;
      throw new Problem('not_ready', { detail: 'The index of the answers is being built.' });
    },
    /** Runs other work in the place of a turn. @throws Problem `overloaded`, `shutting_down`, `not_ready` */
    runBesideTurns: async <Value>(beside: BesideTurns<Value>): Promise<Value> => {
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
    startDraining,
    cutOff,
    close,
  };
}

async function openParts(options: ServiceOptions, nextId: () => string) {
  const { engine, clock, limits, ledger, onFault } = options;
  const store = options.openStore((index) => ({ id: nextId(), atMs: clock.now(), index }));
  const work = createFairWork({ atOnce: limits.turnsAtOnce, clock, isReady: () => engine.isReady });
  // An answer may take a little more than there is; a client that is over its bound before gets none.
  const hasRoom = (client: Client | null) =>
    [null, 'share'].includes(ledger.findExcess('sessionBytes', client, 0));
  const turns = createTurns({ store, engine, clock, limits, work, hasRoom, onFault });
  const streams = createStreams({ store, clock, limits, ledger, onFault });
  store.bound({ ledger, clock, isRead: streams.isRead });
  try {
    const left = await recoverSessions(options, store);
    for (const record of left) turns.attend(record);
  } catch (error) {
    await streams.endAll();
    store.close();
    throw error;
  }
  store.onCommit((commit) => {
    streams.publish(commit);
    for (const [sessionId, record] of commit) {
      if (record !== undefined && isLive(record.state)) turns.attend(record);
      else turns.drop(sessionId);
    }
  });
  return { store, work, turns, streams, stopAging: startExpiry({ store, clock, limits, onFault }) };
}

/** Takes a turn that is not stored. @throws Problem `overloaded`, `not_ready` */
function takeTurn(ledger: Ledger, client: Client): Reservation {
  const place = ledger.open('queuedTurns', client);
  try {
    if (place.take(1)) return place;
  } catch (error) {
    throw toStoreProblem(error); // the turns of sessions are counted in the store
  }
  throw new Problem('overloaded', { detail: 'Too many questions wait for an answer.' });
}

function createRates(limits: ServiceLimits, clock: Clock) {
  const starts = { perMinute: limits.startsPerMinute, burst: limits.startBurst };
  const perMinute = limits.messagesPerMinute;
  // A third of a minute's at once, as starts have it by default.
  const messages = { perMinute, burst: Math.max(1, Math.floor(perMinute / 3)) };
  return createCallRates({ starts, messages, clock });
}

type Parts = Awaited<ReturnType<typeof openParts>>;

function createShutdown({ store, turns, streams, stopAging }: Parts) {
  let isDraining = false;
  let cut: Promise<void> | null = null;
  /** Takes no more messages, and begins no more turns; those at work go on. */
  const startDraining = (): void => {
    isDraining = true;
    turns.startDraining();
  };
  /** Ends the turns at work as interrupted, then the streams: readers get a whole turn. */
  const cutOff = (): Promise<void> => {
    startDraining();
    stopAging();
    cut ??= turns.interrupt().then(streams.endAll);
    return cut;
  };
  return {
    isDraining: () => isDraining,
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

/** Fails the turns that a crash has interrupted, before the first request. Returns the sessions with messages left. */
async function recoverSessions({ clock, limits }: ServiceOptions, store: SessionStore) {
  const left: SessionRecord[] = [];
  const recover = async (record: SessionRecord): Promise<void> => {
    const [front] = record.pending;
    const nowMs = clock.now();
    const end = { kind: 'failed', failure: failures.interrupted, unsent: null, nowMs } as const;
    const fail = (now: SessionRecord) =>
      front ? endTurn(now, { sequence: front.sequence, end }, limits) : null;
    const after = front?.isBegun ? await store.change(record.id, fail) : record;
    if (after && after.pending.length > 0) left.push(after);
  };
  for await (const records of store.list('running')) {
    await Promise.all(records.map(recover)); // one commit for all of them
  }
  return left;
}
