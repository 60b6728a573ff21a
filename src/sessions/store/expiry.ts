import type { Clock } from '../../core/clock.ts';
import { idempotencyMs } from './session-rows.ts';
import type { SessionStore } from './sqlite-store.ts';
import { endSession, type SessionRecord, type Transition } from './state.ts';

/** Maximum idle time and age of sessions, time until ended sessions are deleted, and time for which the ids get 410. */
export type LifetimeLimits = Readonly<Record<Lives, number>>;
type Lives = 'idleMs' | 'ageMs' | 'retentionMs' | 'forgetMs';

interface ExpiryOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly limits: LifetimeLimits;
  readonly onFault: (error: unknown, doing: string) => void;
}

const intervalMs = 10_000;

/** Expires and deletes sessions periodically until the returned function is called. Running sessions do not expire. */
export function startExpiry(options: ExpiryOptions): () => void {
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

/** Expires and deletes all due sessions, in batches of a hundred. */
async function expireDue({ store, clock, limits }: ExpiryOptions): Promise<void> {
  const nowMs = clock.now();
  const before = { idleMs: nowMs - limits.idleMs, createdMs: nowMs - limits.ageMs };
  const expire = (record: SessionRecord): Transition | null => {
    // The session may have received a message since it was listed.
    const isDue = record.activeMs <= before.idleMs || record.createdMs <= before.createdMs;
    return record.state === 'waiting' && isDue ? endSession(record, 'expired', nowMs) : null;
  };
  const listExpired = () => store.listExpired(before);
  // Each batch is one commit.
  await forEachBatch(listExpired, (ids) => Promise.all(ids.map((id) => store.change(id, expire))));
  const listStale = () => store.listStale(nowMs - limits.retentionMs);
  await forEachBatch(listStale, async (ids) => {
    // One at a time, because each may delete many rows.
    for (const id of ids) await store.purge(id, nowMs);
  });
  // The limit of stored bytes may have been lowered.
  while ((await store.trim()) > 0) {
    // Each call deletes a few sessions, so that requests are served in between.
  }
  await store.forget({ purgedMs: nowMs - limits.forgetMs, idempotencyMs: nowMs - idempotencyMs });
}

/** Processes batches until the list is empty, or until a batch made no progress: its first id is listed again. */
async function forEachBatch(
  list: () => Promise<readonly string[]>,
  take: (ids: readonly string[]) => Promise<unknown>,
): Promise<void> {
  let before: string | undefined;
  for (let ids = await list(); ids.length > 0 && ids[0] !== before; ids = await list()) {
    before = ids[0];
    await take(ids);
  }
}
