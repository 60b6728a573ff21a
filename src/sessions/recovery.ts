import type { Clock } from '../core/clock.ts';
import { endTurn, type SessionLimits, type SessionRecord } from './state.ts';
import type { SessionStore } from './store.ts';
import { failures } from './turn-run.ts';

/** What recovery needs. */
export interface RecoveryOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly limits: SessionLimits;
}

/**
 * Ends what a crash has interrupted: each turn that was at work fails with `turn_interrupted`, so that
 * no reader waits for it (protocol section 11). Gives the sessions that have messages left to answer.
 * Run it before anybody is let in.
 */
export async function recoverSessions({
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
  let from: number | null = 0;
  while (from !== null) {
    const { records, next } = await store.listRunning(from);
    await Promise.all(records.map(recover)); // one commit for all of them
    from = next;
  }
  return left;
}
