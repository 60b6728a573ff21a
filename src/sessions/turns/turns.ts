import type { FairQueue } from '../../lib/scheduling/fair-queue.ts';
import type { EventDraft } from '../events.ts';
import {
  beginTurn,
  endTurn,
  type PendingTurn,
  type SessionRecord,
  type Transition,
  toTurn,
  waitingEvent,
} from '../store/state.ts';
import { failures, retryMs, runTurn, type TurnRun, type TurnRunOptions } from './turn-run.ts';

interface TurnsOptions extends TurnRunOptions {
  readonly scheduler: FairQueue;
  /** Called if a turn cannot be stored within its time limit; with `null` when that is resolved. */
  readonly onStalled: (sessionId: string, turn: StalledTurn | null) => void;
}

export type StalledTurn = Readonly<{ sequence: number; deliveryId: string }>;

/** Creates turns that start in rotation over networks, so that a busy one delays no other. */
export function createTurns(options: TurnsOptions) {
  const { scheduler, store } = options;
  const { running, schedule, resume, close } = createRunningTurns(options);
  const cancelRunning = (sessionId: string, turnId: string | null): boolean => {
    const run = running.get(sessionId);
    const matches = run !== undefined && matchesTurn(run.sequence, turnId);
    if (matches) run.stop({ kind: 'cancelled' });
    return matches;
  };
  return {
    get atWork() {
      return running.size;
    },
    /** Schedules the first unanswered message of a session, if any. */
    schedule,
    /** Fails an answer interrupted by an error or failed instance, then schedules the next one. */
    resume,
    /** Stops a cancelled turn. Otherwise schedules the next one unless one is running. */
    follow: (record: SessionRecord): void => {
      const [front] = record.pending;
      if (front?.isCancelled === true) cancelRunning(record.id, toTurnId(front.sequence));
      else schedule(record);
    },
    /** Cancels the oldest unfinished turn, if `turnId` is `null` or its id. */
    cancel: async (sessionId: string, turnId: string | null): Promise<void> => {
      if (cancelRunning(sessionId, turnId)) return;
      const record = await cancelQueued(sessionId, turnId, options);
      if (record !== undefined) {
        scheduler.remove(sessionId);
        if (store.runs(sessionId)) schedule(record);
        return;
      }
      // The turn may have started in the meantime, or another instance may run it.
      if (cancelRunning(sessionId, turnId) || store.runs(sessionId)) return;
      await store.change(sessionId, (now) => markCancelled(now, turnId));
    },
    /** Stops the answer of an ended or deleted session and empties its queue. Stores no event. */
    drop: (sessionId: string): void => {
      scheduler.remove(sessionId);
      running.get(sessionId)?.stop({ kind: 'gone' });
    },
    /** Prevents the start of further answers. Unanswered messages stay in the store. */
    startDraining: close,
    /** Stops all running answers with `turn_interrupted`. Resolves even if that is not stored. */
    interrupt: async (): Promise<void> => {
      close();
      const turns = [...running.values()];
      for (const turn of turns) turn.interrupt();
      await Promise.all(turns.map(({ ended }) => ended));
    },
  };
}

const toTurnId = (sequence: number): string => `turn_${sequence}`;

const matchesTurn = (sequence: number, turnId: string | null): boolean =>
  turnId === null || turnId === toTurnId(sequence);

function markCancelled(record: SessionRecord, turnId: string | null): Transition | null {
  const [front, ...others] = record.pending;
  if (!front?.isBegun || front.isCancelled || !matchesTurn(front.sequence, turnId)) return null;
  const pending = [{ ...front, isCancelled: true }, ...others];
  return { record: { ...record, pending }, events: [], messages: [] };
}

function createRunningTurns(options: TurnsOptions) {
  const { scheduler, store, clock, turnSpans, onFault } = options;
  const running = new Map<string, TurnRun>();
  const closed = new AbortController();
  const stalls = createStalls(options);
  const schedule = (record: SessionRecord): void => {
    const { id, client, pending } = record;
    const [front] = pending;
    if (front === undefined || front.isBegun || running.has(id) || closed.signal.aborted) return;
    const { deliveryId } = front;
    scheduler.add({ key: id, client, order: deliveryId, run: () => run(id, front) });
  };
  const run = async (
    sessionId: string,
    { sequence, deliveryId }: Pick<PendingTurn, 'sequence' | 'deliveryId'>,
  ): Promise<void> => {
    const span = turnSpans?.start(deliveryId);
    const onUnstored = stalls.begin(sessionId, { sequence, deliveryId });
    const begun = runTurn({ sessionId, sequence, span, onUnstored }, options);
    running.set(sessionId, begun);
    const isStored = await begun.ended;
    running.delete(sessionId);
    if (isStored) stalls.end(sessionId);
    return resume(sessionId);
  };
  const recover = async (sessionId: string): Promise<void> => {
    const found = await store.find(sessionId);
    if (running.has(sessionId)) return;
    if (found.kind !== 'known' || !store.runs(sessionId)) return stalls.end(sessionId);
    const record = await failInterrupted(found.record, options);
    if (record !== undefined) schedule(record);
  };
  const resume = async (sessionId: string): Promise<void> => {
    while (!closed.signal.aborted) {
      try {
        return await recover(sessionId);
      } catch (error) {
        onFault(error, 'looking for the next turn');
        stalls.check(sessionId);
        await Promise.allSettled([clock.sleep(retryMs, closed.signal)]); // returns early after `close`
      }
    }
  };
  const close = (): void => {
    closed.abort();
    scheduler.close();
  };
  return { running, schedule, resume, close };
}

/** Returns the events, not stored, that end the streams of a session with a stalled turn. */
export function toStalledEvents({ sequence, deliveryId }: StalledTurn): readonly EventDraft[] {
  const data = { ...failures.unstored, ...toTurn(sequence) };
  return [{ type: 'turn.failed', data, deliveryId }, waitingEvent(deliveryId)];
}

function createStalls({ clock, limits, onStalled }: TurnsOptions) {
  const begun = new Map<string, StalledTurn & { readonly sinceMs: number; isReported: boolean }>();
  const check = (sessionId: string): void => {
    const turn = begun.get(sessionId);
    if (turn === undefined || turn.isReported) return;
    if (clock.now() - turn.sinceMs < limits.turnMs) return;
    turn.isReported = true;
    onStalled(sessionId, turn);
  };
  const end = (sessionId: string): void => {
    if (begun.get(sessionId)?.isReported === true) onStalled(sessionId, null);
    begun.delete(sessionId);
  };
  return {
    /** Records the first attempt. Returns a function that checks whether the turn is late. */
    begin: (sessionId: string, turn: StalledTurn): (() => void) => {
      if (begun.get(sessionId)?.sequence !== turn.sequence) {
        end(sessionId);
        begun.set(sessionId, { ...turn, sinceMs: clock.now(), isReported: false });
      }
      return () => check(sessionId);
    },
    check,
    end,
  };
}

/**
 * Records `turn_interrupted` for the oldest pending message if its answer was started. Call only if
 * it is no longer being generated. Returns the session; `undefined` if the end is already stored or
 * another server instance runs the session.
 */
export async function failInterrupted(
  record: SessionRecord,
  { store, clock, limits }: Pick<TurnsOptions, 'store' | 'clock' | 'limits'>,
): Promise<SessionRecord | undefined> {
  const [front] = record.pending;
  if (!front?.isBegun) return record;
  const nowMs = clock.now();
  const end = { kind: 'failed', failure: failures.interrupted, unsent: null, nowMs } as const;
  return store.changeOwn(record.id, (now) =>
    endTurn(now, { sequence: front.sequence, end }, limits),
  );
}

async function cancelQueued(sessionId: string, turnId: string | null, options: TurnsOptions) {
  const { store, engine, clock, limits } = options;
  const found = await store.find(sessionId);
  const front = found.kind === 'known' ? found.record.pending[0] : undefined;
  if (!front || front.isBegun || !matchesTurn(front.sequence, turnId)) return undefined;
  const { sequence } = front;
  const text = await store.readText(sessionId, sequence);
  if (text === undefined) return undefined;
  return store.change(sessionId, (record) => {
    const begun = beginTurn(record, sequence, { text, modelId: engine.modelId });
    if (begun === null) return null;
    const end = { kind: 'cancelled', unsent: null, nowMs: clock.now() } as const;
    const ended = endTurn(begun.record, { sequence, end }, limits);
    return (
      ended && {
        record: ended.record,
        events: [...begun.events, ...ended.events],
        messages: [...begun.messages, ...ended.messages],
      }
    );
  });
}
