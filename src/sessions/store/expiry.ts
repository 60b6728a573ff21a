import type { Clock } from '../../core/clock.ts';
import { idempotencyMs } from './session-rows.ts';
import type { SessionStore } from './session-store.ts';
import { endSession, type SessionRecord, type Transition } from './state.ts';

export interface LifetimeLimits {
  /** Milliseconds without a message or an answer after which a session ends. */
  readonly idleMs: number;
  /** Milliseconds until a session ends even if in use, after pending messages are answered. */
  readonly ageMs: number;
  /** Milliseconds from the end of a session to the deletion of its data. */
  readonly retentionMs: number;
  /** Milliseconds from the deletion of a session's data to the deletion of its id. */
  readonly forgetMs: number;
}

interface ExpiryOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly limits: LifetimeLimits;
  readonly onFault: (error: unknown, doing: string) => void;
}

const intervalMs = 10_000;

/** Ends idle and deletes old sessions every 10 seconds. Returns a function that stops it. */
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

async function expireDue({ store, clock, limits }: ExpiryOptions): Promise<void> {
  const nowMs = clock.now();
  const before = { idleMs: nowMs - limits.idleMs, createdMs: nowMs - limits.ageMs };
  const expire = (record: SessionRecord): Transition | null => {
    // The session may have received a message since the query.
    const isDue = record.activeMs <= before.idleMs || record.createdMs <= before.createdMs;
    return record.state === 'waiting' && isDue ? endSession(record, 'expired', nowMs) : null;
  };
  const listExpired = () => store.listExpired(before);
  // Each batch is one commit.
  await forEachBatch(listExpired, (ids) => Promise.all(ids.map((id) => store.change(id, expire))));
  const listStale = () => store.listStale(nowMs - limits.retentionMs);
  await forEachBatch(listStale, async (ids) => {
    // One session at a time, because each deletion may affect many rows.
    for (const id of ids) await store.purge(id, nowMs);
  });
  // The limit of stored bytes may have been lowered.
  while ((await store.trim()) > 0) {
    // Each call deletes a few sessions, so that the server can handle requests between the calls.
  }
  await store.forget({ purgedMs: nowMs - limits.forgetMs, idempotencyMs: nowMs - idempotencyMs });
}

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
