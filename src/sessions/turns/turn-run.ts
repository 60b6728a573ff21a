import type { Answer, AnswerEngine, EarlierTurn } from '../../answers/answer.ts';
import type { Clock } from '../../core/clock.ts';
import { messageCompleted } from '../events.ts';
import type { AnsweredTurn } from '../store/log-rows.ts';
import type { SessionStore } from '../store/sqlite-store.ts';
import {
  appendText,
  beginTurn,
  endTurn,
  type SessionLimits,
  type SessionRecord,
  type TurnEnd,
  type TurnFailure,
} from '../store/state.ts';
import { type AnswerText, createAnswerText } from './answer-text.ts';

export interface TurnSetting {
  readonly store: SessionStore;
  readonly engine: AnswerEngine;
  readonly clock: Clock;
  readonly limits: SessionLimits & { readonly turnMs: number };
  hasRoom(client: SessionRecord['client']): boolean;
  /** Called with faults, for the log; never with what was said. */
  readonly onFault: (error: unknown, doing: string) => void;
}

/** Reason why a turn stops early: `cut` if the answer is too long, `gone` if the session has ended or is deleted. */
type Stop =
  | { readonly kind: 'cancelled' | 'cut' | 'gone' }
  | { readonly kind: 'failed'; readonly failure: TurnFailure };

interface Run extends TurnSetting {
  readonly sessionId: string;
  readonly sequence: number;
  /** Aborted with a `Stop`. */
  readonly signal: AbortSignal;
  readonly stop: (stop: Stop) => void;
}

const messages = {
  turn_timeout: 'The question could not be answered in time. Ask again, or ask a shorter question.',
  turn_interrupted: 'The server was stopped while it answered. Ask again.',
  answer_failed:
    'The question could not be answered because of a fault in the server. Ask again later.',
  storage_full: 'The server has no room for the answer. Start a new session, or ask again later.',
  session_damaged:
    'What was said earlier in this session cannot be read any more. Start a new session.',
};

function toFailure(code: keyof typeof messages, terminal = false): TurnFailure {
  return { code, message: messages[code], terminal };
}

/** The failures of turns, as their events tell them. */
export const failures = {
  timeout: toFailure('turn_timeout'),
  interrupted: toFailure('turn_interrupted'),
  failed: toFailure('answer_failed'),
  full: toFailure('storage_full'),
  damaged: toFailure('session_damaged', true),
};

/** Maximum number of earlier turns that an engine is given. */
const earlierTurns = 6;
/** Maximum number of characters of an answer; the rest is cut. */
const maxAnswer = 262_144;
/** Milliseconds between two tries to record the end of a turn. */
export const retryMs = 1000;

export type TurnRun = ReturnType<typeof runTurn>;

/** Runs the turn at the front of a session: begins it, has it answered, and records how it ended. */
export function runTurn(sessionId: string, sequence: number, setting: TurnSetting) {
  const controller = new AbortController();
  const stop = (reason: Stop) => controller.abort(reason);
  const run: Run = { ...setting, sessionId, sequence, signal: controller.signal, stop };
  return { sequence, stop, ended: carryOut(run) };
}

/** Returns the record after the turn; undefined if the session is gone, or the end could not be recorded. */
async function carryOut(run: Run): Promise<SessionRecord | undefined> {
  const { sessionId, sequence, store, engine } = run;
  try {
    const [question, answered] = await Promise.all([
      store.readText(sessionId, sequence),
      store.readAnswered(sessionId, { before: sequence, count: earlierTurns }),
    ]);
    if (question === undefined) return undefined;
    const turn = { text: question, modelId: engine.modelId };
    const begun = await store.change(sessionId, (record) => beginTurn(record, sequence, turn));
    if (begun === undefined) return undefined;
    const end = await answerQuestion({ question, answered, client: begun.client }, run);
    return end === null ? undefined : await recordEnd(end, run);
  } catch (error) {
    run.onFault(error, 'beginning a turn');
    await Promise.allSettled([run.clock.sleep(retryMs, run.signal)]); // or it is stopped
    return undefined;
  }
}

interface Asked extends Pick<SessionRecord, 'client'> {
  readonly question: string;
  readonly answered: readonly AnsweredTurn[];
}

/** Returns how the turn ended; `null` if the session is gone. */
async function answerQuestion(asked: Asked, run: Run): Promise<TurnEnd | null> {
  const { clock, signal } = run;
  const over = new AbortController();
  const text = createAnswerText({
    clock,
    signal: over.signal,
    onDue: () => void sendText(text, run),
  });
  const timeOut = async () => {
    await Promise.allSettled([clock.sleep(run.limits.turnMs, over.signal)]);
    if (!over.signal.aborted) run.stop({ kind: 'failed', failure: failures.timeout });
  };
  void timeOut();
  const stopped = new Promise<Stop>((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
  });
  try {
    return toEnd(await Promise.race([stopped, ask(asked, text, run)]), text, clock.now());
  } finally {
    over.abort();
  }
}

type Outcome = Stop | { readonly kind: 'answered'; readonly answer: Answer };

async function ask(
  { question, answered, client }: Asked,
  text: AnswerText,
  { engine, signal, stop, hasRoom, onFault }: Run,
): Promise<Outcome> {
  const earlier = readEarlier(answered);
  if (earlier === null) {
    onFault(new Error('The answers of a session cannot be read.'), 'reading a session');
    return { kind: 'failed', failure: failures.damaged };
  }
  const onText = (piece: string) => {
    if (signal.aborted) return;
    text.add(piece);
    if (text.soFar.length > maxAnswer) stop({ kind: 'cut' });
  };
  try {
    if (!hasRoom(client)) return { kind: 'failed', failure: failures.full };
    const answer = await engine.answer({ text: question, earlier }, { signal, onText });
    return { kind: 'answered', answer };
  } catch (error) {
    if (!signal.aborted) onFault(error, 'answering a question');
    return { kind: 'failed', failure: failures.failed };
  }
}

/** Returns the earlier turns as an engine takes them; `null` if they cannot be read. */
function readEarlier(answered: readonly AnsweredTurn[]): readonly EarlierTurn[] | null {
  try {
    return answered.map(({ question, line }) => {
      const { message, citations } = messageCompleted.parse(JSON.parse(line)).data;
      return { question, answer: message, citations };
    });
  } catch {
    return null; // the caller reports it
  }
}

function toEnd(outcome: Outcome, text: AnswerText, nowMs: number): TurnEnd | null {
  switch (outcome.kind) {
    case 'gone':
      return null;
    case 'cancelled':
      return { kind: 'cancelled', unsent: text.take(), nowMs };
    case 'failed':
      return { kind: 'failed', failure: outcome.failure, unsent: text.take(), nowMs };
    case 'cut': {
      const cut = { text: text.soFar, citations: [], abstained: false };
      return complete({ ...cut, finishReason: 'length' }, text, nowMs);
    }
    case 'answered':
      return complete(outcome.answer, text, nowMs);
  }
}

function complete(found: Answer, text: AnswerText, nowMs: number): TurnEnd {
  const whole = found.text.slice(0, maxAnswer);
  const finishReason = found.text.length > maxAnswer ? 'length' : found.finishReason;
  const answer = { ...found, text: whole, finishReason };
  return { kind: 'completed', answer, unsent: text.takeRest(whole), nowMs };
}

async function sendText(text: AnswerText, run: Run): Promise<void> {
  const { sessionId, sequence, store, stop, onFault } = run;
  const unsent = text.take();
  try {
    const append = (record: SessionRecord) => appendText(record, sequence, unsent);
    if (!(await store.change(sessionId, append, 'soon'))) stop({ kind: 'gone' });
  } catch (error) {
    onFault(error, 'recording text');
    stop({ kind: 'failed', failure: failures.failed });
  }
}

/** Records the end of a turn, again and again while the store cannot: readers wait for it. */
async function recordEnd(end: TurnEnd, run: Run): Promise<SessionRecord | undefined> {
  const { sessionId, sequence, store, clock, limits } = run;
  for (;;) {
    try {
      return await store.change(sessionId, (record) => endTurn(record, { sequence, end }, limits));
    } catch (error) {
      run.onFault(error, 'recording the end of a turn');
      // A turn that the end of the process interrupts is failed at the next start.
      if (run.signal.reason?.failure === failures.interrupted) return undefined;
      await clock.sleep(retryMs);
    }
  }
}
