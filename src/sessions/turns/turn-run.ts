import { LRUCache } from 'lru-cache';
import type { Answer, AnswerEngine, EarlierTurn } from '../../answers/answer.ts';
import type { Clock } from '../../lib/clock.ts';
import type { TraceSpan, Tracing } from '../../lib/tracing/tracing.ts';
import { messageCompleted } from '../events.ts';
import type { AnsweredTurn, SessionStore } from '../store/session-store.ts';
import {
  appendText,
  beginTurn,
  endTurn,
  type SessionLimits,
  type SessionRecord,
  type TurnEnd,
  type TurnFailure,
  type Unsent,
} from '../store/state.ts';

export interface TurnRunOptions {
  readonly store: SessionStore;
  readonly engine: AnswerEngine;
  readonly clock: Clock;
  readonly limits: SessionLimits & { readonly turnMs: number };
  /** `undefined` if tracing is off. */
  readonly turnSpans?: TurnSpans | undefined;
  /** Called with errors to log and the failed action. Errors never contain messages or answers. */
  readonly onFault: (error: unknown, doing: string) => void;
}

type Stop =
  | { readonly kind: 'cancelled' | 'truncated' | 'gone' }
  | { readonly kind: 'failed'; readonly failure: TurnFailure };

interface Turn {
  readonly sessionId: string;
  readonly sequence: number;
  /** Tracing span that ends with the turn; `undefined` if tracing is off. */
  readonly span: TraceSpan | undefined;
  /** Called after each failed attempt to store the start or the end of the turn. */
  readonly onUnstored: () => void;
}

interface Run extends TurnRunOptions, Turn {
  /** Signal that stops the answer early. Its abort reason is a `Stop`. */
  readonly signal: AbortSignal;
  readonly stop: (stop: Stop) => void;
  /** Aborted only when the server stops. Ends the attempts to store the final events. */
  readonly interrupted: AbortSignal;
}

const toFailure = (code: string, message: string, terminal = false): TurnFailure => {
  return { code, message, terminal };
};

/** Failures with the codes and texts that session events contain. */
export const failures = {
  timeout: toFailure(
    'turn_timeout',
    'The question could not be answered in time. Ask again, or ask a shorter question.',
  ),
  interrupted: toFailure(
    'turn_interrupted',
    'The server was stopped before the answer was complete. Ask again.',
  ),
  failed: toFailure(
    'answer_failed',
    'The question could not be answered because of an error in the server. Ask again later.',
  ),
  full: toFailure(
    'storage_full',
    'The server has no storage space for the answer. Start a new session, or ask again later.',
  ),
  damaged: toFailure(
    'session_damaged',
    'The earlier messages of this session can no longer be read. Start a new session.',
    true,
  ),
  unstored: toFailure(
    'storage_unavailable',
    'The server cannot store the answer at the moment. Read the session again later, or ask again.',
  ),
};

const maxEarlierTurns = 6;
const maxAnswerLength = 262_144; // characters; longer answers are truncated
/** Milliseconds between attempts to store an answer's end, or to reload after an error. */
export const retryMs = 1000;

export type TurnRun = ReturnType<typeof runTurn>;

/**
 * Starts to answer a message. `ended` resolves to `true` when the end of the answer is stored; to
 * `false` after an error, or if the session has ended.
 */
export function runTurn(turn: Turn, options: TurnRunOptions) {
  const controller = new AbortController();
  const interruption = new AbortController();
  const stop = (reason: Stop) => controller.abort(reason);
  const interrupt = () => {
    interruption.abort();
    stop({ kind: 'failed', failure: failures.interrupted });
  };
  const { signal } = controller;
  const run: Run = { ...options, ...turn, signal, stop, interrupted: interruption.signal };
  return { sequence: turn.sequence, stop, interrupt, ended: executeTurn(run) };
}

async function executeTurn(run: Run): Promise<boolean> {
  const { sessionId, sequence, store, engine, span } = run;
  let end: TurnEnd | null | undefined = null;
  try {
    const [question, answered] = await Promise.all([
      store.readText(sessionId, sequence),
      store.readAnswered(sessionId, { before: sequence, count: maxEarlierTurns }),
    ]);
    if (question === undefined) return false;
    const turn = { text: question, modelId: engine.modelId };
    const begun = await store.changeOwn(sessionId, (record) => beginTurn(record, sequence, turn));
    if (begun === undefined) return false;
    end = await answerQuestion({ question, answered }, run);
    return end !== null && (await recordEnd(end, run));
  } catch (error) {
    end = undefined;
    run.onFault(error, 'beginning a turn');
    run.onUnstored();
    await Promise.allSettled([run.clock.sleep(retryMs, run.signal)]); // returns early if the answer is stopped
    return false;
  } finally {
    endTurnSpan(span, end);
  }
}

type TurnInput = Readonly<{ question: string; answered: readonly AnsweredTurn[] }>;

async function answerQuestion(input: TurnInput, run: Run): Promise<TurnEnd | null> {
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
    return toEnd(await Promise.race([stopped, askEngine(input, text, run)]), text, clock.now());
  } finally {
    over.abort();
  }
}

type Outcome = Stop | { readonly kind: 'answered'; readonly answer: Answer };

async function askEngine(
  { question, answered }: TurnInput,
  text: AnswerText,
  { sessionId, engine, store, clock, signal, span, stop, onFault }: Run,
): Promise<Outcome> {
  const earlier = readEarlier(answered);
  if (earlier === null) {
    onFault(new Error('Stored answers of a session cannot be parsed.'), 'reading a session');
    return { kind: 'failed', failure: failures.damaged };
  }
  const onText = (piece: string) => {
    if (signal.aborted) return;
    text.add(piece);
    if (text.soFar.length > maxAnswerLength) stop({ kind: 'truncated' });
  };
  try {
    if (!(await store.makeRoom(sessionId, clock.now())))
      return { kind: 'failed', failure: failures.full };
    const answer = await engine.answer({ text: question, earlier }, { signal, span, onText });
    return { kind: 'answered', answer };
  } catch (error) {
    if (!signal.aborted) onFault(error, 'answering a question');
    return { kind: 'failed', failure: failures.failed };
  }
}

function readEarlier(answered: readonly AnsweredTurn[]): readonly EarlierTurn[] | null {
  try {
    return answered.map(({ question, line }) => {
      const { message, citations } = messageCompleted.parse(JSON.parse(line)).data;
      return { question, answer: message, citations };
    });
  } catch {
    return null; // the caller reports the error
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
    case 'truncated': {
      const truncated = { text: text.soFar, citations: [], abstained: false };
      return complete({ ...truncated, finishReason: 'length' }, text, nowMs);
    }
    case 'answered':
      return complete(outcome.answer, text, nowMs);
  }
}

function complete(found: Answer, text: AnswerText, nowMs: number): TurnEnd {
  const whole = found.text.slice(0, maxAnswerLength);
  const finishReason = found.text.length > maxAnswerLength ? 'length' : found.finishReason;
  const answer = { ...found, text: whole, finishReason };
  return { kind: 'completed', answer, unsent: text.takeRest(whole), nowMs };
}

async function sendText(text: AnswerText, run: Run): Promise<void> {
  const { sessionId, sequence, store, stop, onFault } = run;
  const unsent = text.take();
  try {
    const append = (record: SessionRecord) => appendText(record, sequence, unsent);
    if (!(await store.changeOwn(sessionId, append))) stop({ kind: 'gone' });
  } catch (error) {
    onFault(error, 'recording text');
    stop({ kind: 'failed', failure: failures.failed });
  }
}

/**
 * Stores an answer's final events. Retries after an error, because clients wait for them. Returns
 * `false` if the server stops before, if the session has ended, or if another instance has taken it
 * over.
 */
async function recordEnd(end: TurnEnd, run: Run): Promise<boolean> {
  const { sessionId, sequence, store, clock, limits, interrupted } = run;
  for (;;) {
    try {
      const finish = (record: SessionRecord) => endTurn(record, { sequence, end }, limits);
      return (await store.changeOwn(sessionId, finish)) !== undefined;
    } catch (error) {
      run.onFault(error, 'recording the end of a turn');
      run.onUnstored();
      // After a restart, the service records a failure for each interrupted answer.
      if (interrupted.aborted) return false;
      await Promise.allSettled([clock.sleep(retryMs, interrupted)]); // returns early if the server stops
    }
  }
}

type TurnSpans = ReturnType<typeof createTurnSpans>;

const maxRemembered = 10_000;

/** Creates turn spans that link to the message's HTTP span, if this process received it. */
export function createTurnSpans(tracing: Tracing) {
  const requests = new LRUCache<string, Pick<TraceSpan, 'spanContext'>>({ max: maxRemembered });
  return {
    /** Stores the message's HTTP span until its answer begins. */
    remember: (deliveryId: string, { spanContext }: TraceSpan): void => {
      requests.set(deliveryId, { spanContext });
    },
    start: (deliveryId: string): TraceSpan => {
      const request = requests.get(deliveryId);
      requests.delete(deliveryId);
      return tracing.start('turn', { links: [request] });
    },
  };
}

/** Ends a span. `end`: `null` if the session ended or was deleted, `undefined` after an error. */
function endTurnSpan(span: TraceSpan | undefined, end: TurnEnd | null | undefined): void {
  if (span === undefined) return;
  span.set({ 'perch.turn.outcome': end === null ? 'gone' : (end?.kind ?? 'failed') });
  if (end?.kind === 'completed') span.set({ 'perch.turn.abstained': end.answer.abstained });
  if (end?.kind === 'failed') {
    span.set({ 'perch.turn.failure': end.failure.code });
    span.fail(end.failure.code);
  }
  if (end === undefined) span.fail('_OTHER');
  span.end();
}

interface AnswerTextOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onDue: () => void;
}

export type AnswerText = ReturnType<typeof createAnswerText>;

const minCharacters = 64;
const minFraction = 16; // text is sent at once if it is also at least 1/16 of the text sent before
const maxDelayMs = 250;
const maxRepeated = 4_194_304;

/** Groups text into few events, because each event repeats the whole text so far. */
export function createAnswerText({ clock, signal, onDue }: AnswerTextOptions) {
  let soFar = '';
  let sent = 0;
  let repeated = 0;
  let bufferedSinceMs: number | null = null;
  let isWaiting = false;
  /** Returns the unsent text and marks the text as sent; `null` if there is no unsent text. */
  const take = (): Unsent => {
    bufferedSinceMs = null;
    if (sent === soFar.length) return null;
    const delta = soFar.slice(sent);
    sent = soFar.length;
    repeated += sent;
    return { delta, soFar };
  };
  const waitUntilDue = async (): Promise<void> => {
    isWaiting = true;
    while (bufferedSinceMs !== null && !signal.aborted) {
      const leftMs = bufferedSinceMs + maxDelayMs - clock.now();
      if (leftMs <= 0) onDue();
      else await Promise.allSettled([clock.sleep(leftMs, signal)]);
    }
    isWaiting = signal.aborted;
  };
  return {
    get soFar() {
      return soFar;
    },
    add: (piece: string): void => {
      if (piece === '') return;
      soFar += piece;
      if (repeated + soFar.length > maxRepeated) return;
      if (soFar.length - sent >= Math.max(minCharacters, sent / minFraction)) onDue();
      else {
        bufferedSinceMs ??= clock.now();
        if (!isWaiting) void waitUntilDue();
      }
    },
    take,
    /** Returns the unsent rest of `whole`; the buffered text if what was sent differs from it. */
    takeRest: (whole: string): Unsent => {
      if (!whole.startsWith(soFar.slice(0, sent))) return take();
      soFar = whole;
      // Even an empty answer has one `message.appended` event.
      return sent === 0 && whole === '' ? { delta: '', soFar: '' } : take();
    },
  };
}
