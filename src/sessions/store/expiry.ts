import type { Clock } from '../../lib/clock.ts';
import { idempotencyMs, type SessionStore } from './session-store.ts';
import { endSession, type SessionRecord, type Transition } from './state.ts';

export type LifetimeLimits = Readonly<{
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
