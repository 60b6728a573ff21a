import { createLine, type WaitingTurn } from './line.ts';
import { beginTurn, endTurn, joinTransitions, type SessionRecord } from './state.ts';
import { failures, retryMs, runTurn, type TurnRun, type TurnSetting } from './turn-run.ts';

/** Runs the turns of all sessions, in the order in which their messages arrived. */
export interface Turns {
  /** How many are at work. */
  readonly atWork: number;
  /** How many sessions have a turn that waits. */
  readonly waiting: number;
  /** Sees to the turn at the front of a session, where there is one. */
  attend(record: SessionRecord): void;
  /** Cancels the turn of a session: the one named, or whichever is at the front. */
  cancel(sessionId: string, turnId: string | null): Promise<void>;
  /** Stops the turn of a session that has ended, without a word. */
  drop(sessionId: string): void;
  /** Begins no more turns; those that wait stay recorded. */
  startDraining(): void;
  /** Ends those at work as interrupted; resolves when that is recorded. */
  interrupt(): Promise<void>;
}

/** What turns need. */
export interface TurnsOptions extends TurnSetting {
  /** The most turns at work at once. */
  readonly atOnce: number;
}

/** Milliseconds between two looks at whether the engine is ready. */
const readyMs = 250;

/** Creates the running of turns. */
export function createTurns(options: TurnsOptions): Turns {
  const work = createTurnWork(options);
  const { line, running } = work;
  return {
    get atWork() {
      return running.size;
    },
    get waiting() {
      return line.length;
    },
    attend: work.attend,
    cancel: async (sessionId, turnId) => {
      if (cancelRunning(running.get(sessionId), turnId)) return;
      const record = await cancelWaiting({ sessionId, turnId }, options);
      // It may have come to work in the meantime.
      if (record === undefined) cancelRunning(running.get(sessionId), turnId);
      else {
        line.leave(sessionId);
        work.attend(record);
      }
    },
    drop: (sessionId) => {
      line.leave(sessionId);
      running.get(sessionId)?.stop({ kind: 'gone' });
    },
    startDraining: work.close,
    interrupt: async () => {
      work.close();
      const turns = [...running.values()];
      for (const turn of turns) turn.stop({ kind: 'failed', failure: failures.interrupted });
      await Promise.all(turns.map(({ ended }) => ended));
    },
  };
}

/** The line, and those at work: as soon as there is room, the first in the line begins. */
function createTurnWork(options: TurnsOptions) {
  const { engine, atOnce, store, clock, onFault } = options;
  const line = createLine();
  const running = new Map<string, TurnRun>();
  const closed = new AbortController();

  const attend = (record: SessionRecord): void => {
    const [front] = record.pending;
    if (front === undefined || front.isBegun || running.has(record.id)) return;
    line.join({ sessionId: record.id, sequence: front.sequence, deliveryId: front.deliveryId });
    pump();
  };
  const pump = (): void => {
    while (!closed.signal.aborted && running.size < atOnce && line.length > 0) {
      if (!engine.isReady) {
        awaitEngine();
        return;
      }
      const next = line.take();
      if (next !== undefined) void run(next);
    }
  };
  const awaitEngine = createEngineWait(options, closed.signal, () => pump());
  const run = async (turn: WaitingTurn): Promise<void> => {
    const { sessionId } = turn;
    const begun = runTurn(turn, options);
    running.set(sessionId, begun);
    const record = (await begun.ended) ?? (await findAgain(sessionId));
    running.delete(sessionId);
    if (record !== undefined) attend(record);
    pump();
  };
  /** Whatever kept a turn from its end, the next one of its session is not forgotten. */
  const findAgain = async (sessionId: string): Promise<SessionRecord | undefined> => {
    while (!closed.signal.aborted) {
      try {
        const found = await store.find(sessionId);
        return found.kind === 'known' ? found.record : undefined;
      } catch (error) {
        onFault(error, 'looking for the next turn');
        await clock.sleep(retryMs, closed.signal).catch(() => undefined); // no more turns begin
      }
    }
    return undefined;
  };
  return { line, running, attend, close: () => closed.abort() };
}

/** Creates the wait for an engine that is not ready yet; there is one at a time. */
function createEngineWait(
  { clock }: TurnsOptions,
  signal: AbortSignal,
  onReady: () => void,
): () => void {
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    clock.sleep(readyMs, signal).then(
      () => {
        isWaiting = false;
        onReady();
      },
      () => undefined, // no more turns begin
    );
  };
}

function cancelRunning(run: TurnRun | undefined, turnId: string | null): boolean {
  if (run === undefined || (turnId !== null && turnId !== `turn_${run.sequence}`)) return false;
  run.stop({ kind: 'cancelled' });
  return true;
}

/**
 * Cancels the turn at the front of a session while it waits for its turn at work: to the session it is
 * the running one. Undefined where there is none.
 */
async function cancelWaiting(
  { sessionId, turnId }: { readonly sessionId: string; readonly turnId: string | null },
  { store, engine, clock, limits }: TurnsOptions,
): Promise<SessionRecord | undefined> {
  const found = await store.find(sessionId);
  const front = found.kind === 'known' ? found.record.pending[0] : undefined;
  if (front === undefined || front.isBegun) return undefined;
  const { sequence } = front;
  if (turnId !== null && turnId !== `turn_${sequence}`) return undefined;
  const text = await store.readText(sessionId, sequence);
  if (text === undefined) return undefined;
  return store.change(sessionId, (record) => {
    const begun = beginTurn(record, sequence, { text, modelId: engine.modelId });
    if (begun === null) return null;
    const end = { kind: 'cancelled', unsent: null, nowMs: clock.now() } as const;
    const ended = endTurn(begun.record, { sequence, end }, limits);
    return ended && joinTransitions(begun, ended);
  });
}
