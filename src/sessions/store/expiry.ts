import type { Clock } from '../../core/clock.ts';
import { onceMs } from './session-rows.ts';
import type { SessionStore } from './sqlite-store.ts';
import { endSession, type SessionRecord, type Transition } from './state.ts';

/** Maximum times without a message or a turn, since the start, after the end, and of a 410 for the id after that. */
export type LifeLimits = Readonly<Record<Lives, number>>;
type Lives = 'idleMs' | 'ageMs' | 'retentionMs' | 'forgetMs';

interface ExpiryOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly limits: LifeLimits;
  readonly onFault: (error: unknown, doing: string) => void;
}

const roundMs = 10_000;

/** Ends, deletes and forgets sessions in time, until the returned function is called. A running one does not expire. */
export function startExpiry(options: ExpiryOptions): () => void {
  const { clock, onFault } = options;
  const stopped = new AbortController();
  const run = async (): Promise<void> => {
    for (;;) {
      await Promise.allSettled([clock.sleep(roundMs, stopped.signal)]);
      if (stopped.signal.aborted) return;
      await ageOnce(options).catch((error) => onFault(error, 'ageing sessions'));
    }
  };
  void run();
  return () => stopped.abort();
}

/** Does what is due now, a hundred sessions of a kind at a time. */
async function ageOnce({ store, clock, limits }: ExpiryOptions): Promise<void> {
  const nowMs = clock.now();
  const before = { idleMs: nowMs - limits.idleMs, createdMs: nowMs - limits.ageMs };
  const expire = (record: SessionRecord): Transition | null => {
    // It may have had a message since it was listed.
    const isDue = record.activeMs <= before.idleMs || record.createdMs <= before.createdMs;
    return record.state === 'waiting' && isDue ? endSession(record, 'expired', nowMs) : null;
  };
  const listExpired = () => store.listExpired(before);
  // One commit for all.
  await drain(listExpired, (ids) => Promise.all(ids.map((id) => store.change(id, expire))));
  const listStale = () => store.listStale(nowMs - limits.retentionMs);
  await drain(listStale, async (ids) => {
    // One after the other, because much may be deleted with each.
    for (const id of ids) await store.purge(id, nowMs);
  });
  // The bound of stored bytes may be lower than when they were stored.
  while ((await store.trim()) > 0) {
    // Each call deletes a few, so that requests are served in between.
  }
  await store.forget({ purgedMs: nowMs - limits.forgetMs, onceMs: nowMs - onceMs });
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
