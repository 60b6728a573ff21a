import { z } from 'zod';
import type { Answer, AnswerEngine, EarlierTurn } from '../../answers/answer.ts';
import type { Client } from '../../core/caller.ts';
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

/** What turns are run with. */
export interface TurnSetting {
  readonly store: SessionStore;
  readonly engine: AnswerEngine;
  readonly clock: Clock;
  readonly limits: SessionLimits & {
    /** The longest time of a turn. */
    readonly turnMs: number;
  };
  /** Returns whether the store has room for an answer to this client. */
  hasRoom(client: Client | null): boolean;
  /** Is told of what went wrong, for the log; never of what was said. */
  readonly onFault: (error: unknown, doing: string) => void;
}

/** A turn at work. */
export interface TurnRun {
  readonly sequence: number;
  /** The record after the turn; undefined where the session is gone, or its end could not be recorded. */
  readonly ended: Promise<SessionRecord | undefined>;
  stop(stop: Stop): void;
}

/** Why a turn stops before its answer is there. `gone`: the session is not there to tell. */
export type Stop =
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly failure: TurnFailure }
  | { readonly kind: 'cut' }
  | { readonly kind: 'gone' };

/** The failures of turns, as their events tell them. */
export const failures = {
  timeout: {
    code: 'turn_timeout',
    message: 'The question could not be answered in time. Ask again, or ask a shorter question.',
    terminal: false,
  },
  interrupted: {
    code: 'turn_interrupted',
    message: 'The server was stopped while it answered. Ask again.',
    terminal: false,
  },
  failed: {
    code: 'answer_failed',
    message:
      'The question could not be answered because of a fault in the server. Ask again later.',
    terminal: false,
  },
  full: {
    code: 'storage_full',
    message: 'The server has no room for the answer. Start a new session, or ask again later.',
    terminal: false,
  },
  damaged: {
    code: 'session_damaged',
    message: 'What was said earlier in this session cannot be read any more. Start a new session.',
    terminal: true,
  },
} as const satisfies Record<string, TurnFailure>;

/** How many earlier turns an engine is told of. */
const earlierTurns = 6;

/** The most characters of an answer; the rest is cut. */
const maxAnswer = 262_144;

/** Milliseconds between two tries to record the end of a turn. */
export const retryMs = 1000;

/** Runs the turn at the front of a session: begins it, has it answered, and records how it ended. */
export function runTurn(
  { sessionId, sequence }: { readonly sessionId: string; readonly sequence: number },
  setting: TurnSetting,
): TurnRun {
  const controller = new AbortController();
  const stop = (reason: Stop) => controller.abort(reason);
  const run = { sessionId, sequence, signal: controller.signal, stop };
  return { sequence, stop, ended: carryOut(run, setting) };
}

interface Running {
  readonly sessionId: string;
  readonly sequence: number;
  readonly signal: AbortSignal;
  readonly stop: (stop: Stop) => void;
}

async function carryOut(run: Running, setting: TurnSetting): Promise<SessionRecord | undefined> {
  const { sessionId, sequence } = run;
  const { store, engine, onFault } = setting;
  try {
    const [text, answered] = await Promise.all([
      store.readText(sessionId, sequence),
      store.readAnswered(sessionId, { before: sequence, count: earlierTurns }),
    ]);
    if (text === undefined) return undefined;
    const { modelId } = engine;
    const begin = (record: SessionRecord) => beginTurn(record, sequence, { text, modelId });
    const begun = await store.change(sessionId, begin);
    if (begun === undefined) return undefined;
    const { client } = begun;
    const end = await answerQuestion({ text, answered, client }, run, setting);
    return end === null ? undefined : await recordEnd(end, run, setting);
  } catch (error) {
    onFault(error, 'beginning a turn');
    await setting.clock.sleep(retryMs, run.signal).catch(() => undefined); // it is stopped
    return undefined;
  }
}

interface Asked {
  readonly text: string;
  readonly answered: readonly AnsweredTurn[];
  /** The client that the answer takes room of. */
  readonly client: Client | null;
}

/** Has a question answered; null where nobody is left to be told. */
async function answerQuestion(
  asked: Asked,
  run: Running,
  setting: TurnSetting,
): Promise<TurnEnd | null> {
  const { clock } = setting;
  const over = new AbortController();
  const text = createAnswerText({
    clock,
    signal: over.signal,
    onDue: () => sendText(text, run, setting),
  });
  clock.sleep(setting.limits.turnMs, over.signal).then(
    () => run.stop({ kind: 'failed', failure: failures.timeout }),
    () => undefined, // the turn is over
  );
  try {
    const outcome = await Promise.race([
      whenStopped(run.signal),
      ask(asked, { run, text, setting }),
    ]);
    return toEnd(outcome, text, clock.now());
  } finally {
    over.abort();
  }
}

type Outcome = Stop | { readonly kind: 'answered'; readonly answer: Answer };

function whenStopped(signal: AbortSignal): Promise<Stop> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
  });
}

interface AskSetting {
  readonly run: Running;
  readonly text: AnswerText;
  readonly setting: TurnSetting;
}

async function ask(
  { text: question, answered, client }: Asked,
  { run, text, setting }: AskSetting,
): Promise<Outcome> {
  const earlier = readEarlier(answered);
  if (earlier === null) {
    setting.onFault(new Error('The answers of a session cannot be read.'), 'reading a session');
    return { kind: 'failed', failure: failures.damaged };
  }
  const onText = (piece: string) => {
    if (run.signal.aborted) return;
    text.add(piece);
    if (text.soFar.length > maxAnswer) run.stop({ kind: 'cut' });
  };
  try {
    if (!setting.hasRoom(client)) return { kind: 'failed', failure: failures.full };
    const asking = { signal: run.signal, onText };
    const answer = await setting.engine.answer({ text: question, earlier }, asking);
    return { kind: 'answered', answer };
  } catch (error) {
    if (!run.signal.aborted) setting.onFault(error, 'answering a question');
    return { kind: 'failed', failure: failures.failed };
  }
}

const completedLine = z
  .string()
  .transform((line) => JSON.parse(line))
  .pipe(messageCompleted);

/** Gives the earlier turns as an engine takes them; null where they cannot be read. */
function readEarlier(answered: readonly AnsweredTurn[]): readonly EarlierTurn[] | null {
  try {
    return answered.map(({ question, line }) => {
      const { message, citations } = completedLine.parse(line).data;
      return { question, answer: message, citations };
    });
  } catch {
    return null; // the caller tells of it
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
    case 'cut':
      return complete({ text: text.soFar, citations: [], abstained: false }, text, nowMs);
    case 'answered':
      return complete(outcome.answer, text, nowMs);
  }
}

type Found = Pick<Answer, 'text' | 'citations' | 'abstained'> & Partial<Answer>;

function complete(found: Found, text: AnswerText, nowMs: number): TurnEnd {
  const isCut = found.text.length > maxAnswer;
  const whole = found.text.slice(0, maxAnswer);
  const finishReason = isCut ? 'length' : (found.finishReason ?? 'stop');
  const answer = { ...found, text: whole, finishReason };
  return { kind: 'completed', answer, unsent: text.takeRest(whole), nowMs };
}

/** Records what is due of the text. A turn whose text cannot be recorded fails. */
function sendText(text: AnswerText, run: Running, { store, onFault }: TurnSetting): void {
  const unsent = text.take();
  const append = (record: SessionRecord) => appendText(record, run.sequence, unsent);
  store.change(run.sessionId, append, 'soon').then(
    (record) => {
      if (record === undefined) run.stop({ kind: 'gone' });
    },
    (error) => {
      onFault(error, 'recording text');
      run.stop({ kind: 'failed', failure: failures.failed });
    },
  );
}

/** Records the end of a turn, again and again while the store cannot: readers wait for it. */
async function recordEnd(
  end: TurnEnd,
  run: Running,
  { store, clock, limits, onFault }: TurnSetting,
): Promise<SessionRecord | undefined> {
  const { sessionId, sequence } = run;
  for (;;) {
    try {
      return await store.change(sessionId, (record) => endTurn(record, { sequence, end }, limits));
    } catch (error) {
      onFault(error, 'recording the end of a turn');
      // What is interrupted by the end of the process is told at the next start.
      if (isInterrupted(run.signal)) return undefined;
      await clock.sleep(retryMs);
    }
  }
}

function isInterrupted({ reason }: AbortSignal): boolean {
  return reason?.kind === 'failed' && reason.failure.code === failures.interrupted.code;
}
