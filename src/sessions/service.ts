import { toClient } from '../access/client-address.ts';
import type { RateLimiter } from '../access/rate-limits.ts';
import type { AnswerEngine } from '../answers/answer.ts';
import type { Client } from '../lib/caller.ts';
import type { Clock } from '../lib/clock.ts';
import { Problem } from '../lib/problem.ts';
import type { Random } from '../lib/random.ts';
import { createFairQueue } from '../lib/scheduling/fair-queue.ts';
import type { Quotas, Reservation } from '../lib/scheduling/quotas.ts';
import type { Tracing } from '../lib/tracing/tracing.ts';
import { type CallLimits, createCallRates } from './call-rates.ts';
import { createContinuationTokens, createSessionIds, keyedHash } from './ids.ts';
import { turnDetails } from './store/quotas.ts';
import {
  idempotencyMs,
  type SessionStore,
  type StampEvent,
  type StoreContext,
} from './store/session-store.ts';
import {
  endSession,
  isLive,
  type SessionLimits,
  type SessionRecord,
  type Transition,
} from './store/state.ts';
import { openStoreHealth, type StoreFaults, toStoreProblem } from './store/store-faults.ts';
import { createStreams, type StreamLimits } from './streams/streams.ts';
import { createTurnSpans } from './turns/turn-run.ts';
import { createTurns, failInterrupted, type StalledTurn, toStalledEvents } from './turns/turns.ts';

export interface ServiceLimits extends SessionLimits, LifetimeLimits, StreamLimits, CallLimits {
  readonly messageBytes: number;
  readonly bodyBytes: number;
  readonly turnMs: number;
  readonly turnsAtOnce: number;
}

interface ServiceOptions {
  readonly engine: AnswerEngine;
  readonly clock: Clock;
  readonly random: Random;
  readonly tracing?: Tracing | null;
  /** Secret for continuation tokens and for keyed hashes of addresses and bearer tokens. */
  readonly secret: Buffer;
  readonly limits: ServiceLimits;
  /** Counts sessions, bytes, questions and streams of each client, and checks their limits. */
  readonly quotas: Quotas;
  /** Limits session starts and messages. */
  readonly limiter: RateLimiter;
  /** Opens the store, which the service closes. */
  readonly openStore: (context: StoreContext) => SessionStore;
  /** Called with errors to log and the failed action. Errors never contain messages or answers. */
  readonly onFault: (error: unknown, doing: string) => void;
  readonly faults: StoreFaults;
}

interface TurnSlotTask<Value> {
  readonly client: Client;
  readonly signal: AbortSignal;
  run(): Promise<Value>;
}

/** Service that stores sessions and answers their messages, without the HTTP routes. */
export type SessionService = Awaited<ReturnType<typeof openSessionService>>;

/** Opens the service and answers messages left by a crash. Close it with `close()`. */
export async function openSessionService(options: ServiceOptions) {
  const { engine, clock, random, secret, limits, quotas } = options;
  const ids = createSessionIds(clock, random);
  const parts = await openParts(options, ids.event);
  const { store, scheduler, turns, streams, turnSpans, health } = parts;
  const { startDraining, cutOff, close, isDraining } = createShutdown(parts);
  return {
    store,
    turns,
    streams,
    health,
    /** `undefined` if tracing is off. */
    turnSpans,
    rates: createCallRates(limits, options.limiter),
    tokens: createContinuationTokens(secret),
    ids,
    secret,
    clock,
    limits,
    /** Returns keyed hashes of address and network, which the store contains instead of them. */
    toClient: (name: string): Client => {
      const { network } = toClient(name);
      return {
        address: keyedHash(secret, 'address', name),
        network: network === null ? null : keyedHash(secret, 'network', network),
      };
    },
    /** Checks that messages are accepted. @throws Problem `not_ready`, `shutting_down` */
    refuseUnlessReady: (): void => {
      if (isDraining()) throw shuttingDown();
      if (engine.isReady) return;
      throw new Problem('not_ready', { detail: 'The server is still building its search index.' });
    },
    /** Runs a task in a free slot. @throws Problem `overloaded`, `shutting_down`, `not_ready` */
    runInTurnSlot: async <Value>(slotTask: TurnSlotTask<Value>): Promise<Value> => {
      const slot = takeTurnSlot(quotas, slotTask.client);
      const id = ids.delivery();
      try {
        return await scheduler.run({
          ...slotTask,
          key: id,
          order: id,
          toDropped: shuttingDown,
        });
      } finally {
        slot.release();
      }
    },
    figures: async () => ({
      live: await store.countLive(),
      turnsAtWork: turns.atWork,
      turnsWaiting: scheduler.waiting,
      streams: streams.open,
      storedBytes: await store.countStored(),
    }),
    startDraining,
    cutOff,
    close,
  };
}

async function openParts(options: ServiceOptions, nextId: () => string) {
  const { engine, clock, limits, quotas, tracing, onFault } = options;
  const stamp: StampEvent = (index) => ({ id: nextId(), atMs: clock.now(), index });
  const followed = new Set<string>();
  const store = options.openStore({ stamp, quotas, followed, watch: options.faults });
  const isReady = () => engine.isReady;
  const scheduler = createFairQueue({ atOnce: limits.turnsAtOnce, clock, isReady });
  const turnSpans = tracing ? createTurnSpans(tracing) : undefined;
  const streams = createStreams({ store, clock, limits, quotas, stamp, followed, onFault });
  const onStalled = (id: string, turn: StalledTurn | null) =>
    streams.endWith(id, turn && toStalledEvents(turn));
  const turning = { store, engine, clock, limits, scheduler, turnSpans, onFault, onStalled };
  const turns = createTurns(turning);
  try {
    // In a shared store, the turns of a crashed instance are taken over when its leases expire.
    const left = store.isShared ? [] : await recoverSessions(options, store);
    for (const record of left) turns.schedule(record);
  } catch (error) {
    await streams.endAll();
    await store.close();
    throw error;
  }
  store.onCommit((commit) => {
    streams.publish(commit);
    for (const [sessionId, record] of commit) {
      if (record === undefined || !isLive(record.state)) turns.drop(sessionId);
      else if (store.runs(sessionId)) turns.follow(record);
    }
  });
  store.onTakeOver?.(({ id }) => void turns.resume(id));
  const stopExpiry = startExpiry({ store, clock, limits, onFault });
  const health = openStoreHealth({ store, clock, faults: options.faults });
  return { store, scheduler, turns, turnSpans, streams, stopExpiry, health };
}

/**
 * Counts a question of a client. The caller must release the reservation when it is answered.
 * @throws Problem `overloaded` if the limit is reached, `not_ready` if the session store fails
 */
function takeTurnSlot(quotas: Quotas, client: Client): Reservation {
  const slot = quotas.open('queuedTurns', client);
  try {
    if (slot.take(1)) return slot;
    const excess = quotas.findExcess('queuedTurns', client, 1) ?? 'total';
    throw new Problem('overloaded', { detail: turnDetails[excess] });
  } catch (error) {
    throw toStoreProblem(error); // the quotas reads the number of queued turns from the store
  }
}

type Parts = Awaited<ReturnType<typeof openParts>>;

function createShutdown({ store, turns, streams, stopExpiry, health }: Parts) {
  let isDraining = false;
  let cut: Promise<void> | null = null;
  const startDraining = (): void => {
    isDraining = true;
    turns.startDraining();
  };
  const cutOff = (): Promise<void> => {
    startDraining();
    stopExpiry();
    health.stop();
    cut ??= turns.interrupt().then(streams.endAll);
    return cut;
  };
  return {
    isDraining: () => isDraining,
    startDraining,
    cutOff,
    close: async (): Promise<void> => {
      await cutOff();
      await store.close();
    },
  };
}

const shuttingDown = (): Problem =>
  new Problem('shutting_down', { detail: 'The server is shutting down.' });

async function recoverSessions(options: ServiceOptions, store: SessionStore) {
  const left: SessionRecord[] = [];
  const recover = async (record: SessionRecord): Promise<void> => {
    const after = await failInterrupted(record, { ...options, store });
    if (after && after.pending.length > 0) left.push(after);
  };
  for await (const records of store.list('running')) {
    await Promise.all(records.map(recover)); // in one commit
  }
  return left;
}

type LifetimeLimits = Readonly<{
  /** Milliseconds without a message or an answer after which a session ends. */
  idleMs: number;
  /** Milliseconds until a session ends even if in use, after pending messages are answered. */
  ageMs: number;
  /** Milliseconds from the end of a session to the deletion of its data. */
  retentionMs: number;
  /** Milliseconds from the deletion of a session's data to the deletion of its id. */
  forgetMs: number;
}>;

type ExpiryOptions = Readonly<{
  store: SessionStore;
  clock: Clock;
  limits: LifetimeLimits;
  onFault: (error: unknown, doing: string) => void;
}>;

const intervalMs = 10_000;

/** Ends idle and deletes old sessions every 10 seconds. Returns a function that stops it. */
function startExpiry(options: ExpiryOptions): () => void {
  const { clock, onFault } = options;
  const stopped = new AbortController();
  const run = async (): Promise<void> => {
    for (;;) {
      await Promise.allSettled([clock.sleep(intervalMs, stopped.signal)]);
      if (stopped.signal.aborted) return;
      await expireDue(options).catch((error) => onFault(error, 'ageing sessions'));
    }
  };
  void run();
  return () => stopped.abort();
}

async function expireDue({ store, clock, limits }: ExpiryOptions): Promise<void> {
  const nowMs = clock.now();
  const before = { idleMs: nowMs - limits.idleMs, createdMs: nowMs - limits.ageMs };
  const expire = (record: SessionRecord): Transition | null => {
    // The session may have received a message since the query.
    const isDue = record.activeMs <= before.idleMs || record.createdMs <= before.createdMs;
    return record.state === 'waiting' && isDue ? endSession(record, 'expired', nowMs) : null;
  };
  for await (const ids of batchesOf(() => store.listExpired(before))) {
    await Promise.all(ids.map((id) => store.change(id, expire))); // in one commit
  }
  for await (const ids of batchesOf(() => store.listStale(nowMs - limits.retentionMs))) {
    // One session at a time, because each deletion may affect many rows.
    for (const id of ids) await store.purge(id, nowMs);
  }
  await store.forget({ purgedMs: nowMs - limits.forgetMs, idempotencyMs: nowMs - idempotencyMs });
}

/** Yields what `list` returns, until that is empty or begins as before. */
async function* batchesOf(list: () => Promise<readonly string[]>) {
  let before: string | undefined;
  for (let ids = await list(); ids.length > 0 && ids[0] !== before; ids = await list()) {
    before = ids[0];
    yield ids;
  }
}
