import { beginTurn, endTurn, type SessionRecord } from '../store/state.ts';
import type { FairWork } from './fair-work.ts';
import { failures, retryMs, runTurn, type TurnRun, type TurnSetting } from './turn-run.ts';

interface TurnsOptions extends TurnSetting {
  /** The places that turns take, and other work too. */
  readonly work: FairWork;
}

/** Creates the running of turns. Addresses take turns; those of one address keep the order of arrival. */
export function createTurns(options: TurnsOptions) {
  const { work } = options;
  const { running, attend, close } = createTurnWork(options);
  const cancelRunning = (sessionId: string, turnId: string | null): boolean => {
    const run = running.get(sessionId);
    const isMeant = run !== undefined && isNamed(run.sequence, turnId);
    if (isMeant) run.stop({ kind: 'cancelled' });
    return isMeant;
  };
  return {
    get atWork() {
      return running.size;
    },
    /** Runs the turn at the front of a session, if there is one, when it is next. */
    attend,
    /** Cancels the turn of a session: the one named, or whichever is at the front. */
    cancel: async (sessionId: string, turnId: string | null): Promise<void> => {
      if (cancelRunning(sessionId, turnId)) return;
      const record = await cancelWaiting(sessionId, turnId, options);
      // It may have come to work in the meantime.
      if (record === undefined) cancelRunning(sessionId, turnId);
      else {
        work.leave(sessionId);
        attend(record);
      }
    },
    /** Stops the turn of a session that has ended; nothing is recorded of it. */
    drop: (sessionId: string): void => {
      work.leave(sessionId);
      running.get(sessionId)?.stop({ kind: 'gone' });
    },
    /** Begins no more turns; those that wait stay recorded. */
    startDraining: close,
    /** Ends those at work as interrupted; resolves when that is recorded. */
    interrupt: async (): Promise<void> => {
      close();
      const turns = [...running.values()];
      for (const turn of turns) turn.stop({ kind: 'failed', failure: failures.interrupted });
      await Promise.all(turns.map(({ ended }) => ended));
    },
  };
}

function isNamed(sequence: number, turnId: string | null): boolean {
  return turnId === null || turnId === `turn_${sequence}`;
}

/** Keeps the turns at work. The next turn of a session waits for its place once the one before it has ended. */
function createTurnWork(options: TurnsOptions) {
  const { work, store, clock, onFault } = options;
  const running = new Map<string, TurnRun>();
  const closed = new AbortController();

  const attend = ({ id, client, pending: [front] }: SessionRecord): void => {
    if (front === undefined || front.isBegun || running.has(id) || closed.signal.aborted) return;
    const { sequence, deliveryId } = front;
    work.join({ key: id, client, order: deliveryId, run: () => run(id, sequence) });
  };
  const run = async (sessionId: string, sequence: number): Promise<void> => {
    const begun = runTurn(sessionId, sequence, options);
    running.set(sessionId, begun);
    const record = (await begun.ended) ?? (await findAgain(sessionId));
    running.delete(sessionId);
    if (record !== undefined) attend(record);
  };
  /** Whatever kept a turn from its end, the next one of its session is not forgotten. */
  const findAgain = async (sessionId: string): Promise<SessionRecord | undefined> => {
    while (!closed.signal.aborted) {
      try {
        const found = await store.find(sessionId);
        return found.kind === 'known' ? found.record : undefined;
      } catch (error) {
        onFault(error, 'looking for the next turn');
        await Promise.allSettled([clock.sleep(retryMs, closed.signal)]); // or no more turns begin
      }
    }
    return undefined;
  };
  const close = (): void => {
    closed.abort();
    work.close();
  };
  return { running, attend, close };
}

/** Cancels the turn at the front of a session before it is at work; returns `undefined` if there is none such. */
async function cancelWaiting(sessionId: string, turnId: string | null, options: TurnsOptions) {
  const { store, engine, clock, limits } = options;
  const found = await store.find(sessionId);
  const front = found.kind === 'known' ? found.record.pending[0] : undefined;
  if (!front || front.isBegun || !isNamed(front.sequence, turnId)) return undefined;
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
