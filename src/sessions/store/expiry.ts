import type { Clock } from '../../core/clock.ts';
import { onceMs } from './session-rows.ts';
import type { SessionStore } from './sqlite-store.ts';
import { endSession, type SessionRecord, type Transition } from './state.ts';

/** How long sessions last, in milliseconds. */
export interface LifeLimits {
  /** Without a message and a turn. */
  readonly idleMs: number;
  /** Since the start. */
  readonly ageMs: number;
  /** Readable after the end. */
  readonly retentionMs: number;
  /** Answered with 410 after that. */
  readonly forgetMs: number;
}

/** What ageing needs. */
export interface ExpiryOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly limits: LifeLimits;
  readonly onFault: (error: unknown, doing: string) => void;
}

/** The ageing of sessions, which goes on until it is stopped. */
export interface Expiry {
  stop(): void;
}

/** How often sessions are looked through. */
const roundMs = 10_000;

/**
 * Lets sessions age: ends those that are idle or old, deletes what has ended long ago, and forgets
 * what was deleted long ago. A running session does not expire.
 */
export function startExpiry(options: ExpiryOptions): Expiry {
  const { clock, onFault } = options;
  const stopped = new AbortController();
  const { signal } = stopped;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(roundMs, signal);
      await ageOnce(options).catch((error) => onFault(error, 'ageing sessions'));
    }
  };
  run().catch(() => undefined); // stopped
  return { stop: () => stopped.abort() };
}

/** Does what is due now, a hundred sessions of a kind at a time. */
async function ageOnce({ store, clock, limits }: ExpiryOptions): Promise<void> {
  const nowMs = clock.now();
  const before = {
    idleMs: nowMs - limits.idleMs,
    createdMs: nowMs - limits.ageMs,
  };
  const expire = (record: SessionRecord): Transition | null => {
    // What has been asked something since is as lively as ever.
    const isDue = record.activeMs <= before.idleMs || record.createdMs <= before.createdMs;
    return record.state === 'waiting' && isDue ? endSession(record, 'expired', nowMs) : null;
  };
  await drain(
    () => store.listExpired(before),
    async (ids) => Promise.all(ids.map((id) => store.change(id, expire))), // one commit for all
  );
  await drain(
    () => store.listStale(nowMs - limits.retentionMs),
    async (ids) => {
      // One after the other, because much may be deleted with each.
      for (const id of ids) await store.purge(id, nowMs);
    },
  );
  await trimAll(store);
  await store.forget({ purgedMs: nowMs - limits.forgetMs, onceMs: nowMs - onceMs });
}

/** The bound of stored bytes may be lower than when they were stored. */
async function trimAll(store: SessionStore): Promise<void> {
  while ((await store.trim()) > 0) {
    // Each call deletes a few, so that requests are served in between.
  }
}

/** Takes a list until it is empty, or does not get any shorter. */
async function drain(
  list: () => Promise<readonly string[]>,
  take: (ids: readonly string[]) => Promise<unknown>,
): Promise<void> {
  let before: string | undefined;
  for (let ids = await list(); ids.length > 0 && ids[0] !== before; ids = await list()) {
    before = ids[0];
    await take(ids);
  }
}
