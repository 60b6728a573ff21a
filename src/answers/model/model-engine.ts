import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import type { Answer, AnswerEngine, Asking, Fallback, PassageSource, Question } from '../answer.ts';
import { bestFirst, composeAbstention, printSources } from '../engine/compose.ts';
import { type BrokenOff, continueBrokenOff } from './break-off.ts';
import type { ChatClient } from './chat-client.ts';
import { type CitedText, createCitedText } from './cited-text.ts';
import { ModelFailure } from './model-failure.ts';
import { buildPrompt, type Prompt } from './prompt.ts';

/** What an engine with a language model is made of. */
export interface ModelEngineOptions {
  /** Answers where the model does not. */
  readonly extractive: AnswerEngine;
  readonly passages: PassageSource;
  readonly chat: ChatClient;
  readonly clock: Clock;
  /** The most characters that the model is given. */
  readonly maxCharacters: number;
  /** What the answer must never hold: the key. */
  readonly secret: string | undefined;
  /** Told of each question that the model did not answer, or not to the end. */
  readonly onFallback: (fallback: Fallback) => void;
}

/** How many sections an answer names that does not answer. */
const nearestSections = 3;

/** What a model has said of a question. */
interface Spoken {
  readonly reason: 'stop' | 'length';
  readonly usage: Readonly<Record<string, number>> | undefined;
}

/**
 * Answers by a language model from passages that are found, with citations that are verified before
 * a reader sees them. Where it fails, stalls, or cites what is not there, the other engine answers, and
 * the answer says so in `fallback`.
 */
export function createModelEngine(options: ModelEngineOptions): AnswerEngine {
  const { extractive, passages, chat, clock, maxCharacters } = options;
  const pause = createPause(clock);
  const askModel = async (question: Question, asking: Asking): Promise<Answer> => {
    const prompt = buildPrompt(question, await passages.find(question), maxCharacters);
    refuseToAsk(prompt, pause.isOn);
    const text = createTextFor(prompt, asking, options);
    try {
      const spoken = await listen(text, chat.complete(prompt.messages, asking.signal));
      pause.noteAnswer();
      return finish(text, { prompt, spoken, asking });
    } catch (error) {
      asking.signal.throwIfAborted();
      if (!(error instanceof ModelFailure)) throw error;
      if (isOfEndpoint(error)) pause.noteFailure(error);
      throw new BrokenOffError(error, text);
    }
  };
  return {
    modelId: chat.model,
    get isReady() {
      return extractive.isReady;
    },
    answer: async (question, asking) => {
      await nextTurn();
      asking.signal.throwIfAborted();
      try {
        return await askModel(question, asking);
      } catch (error) {
        if (!(error instanceof BrokenOffError)) throw error;
        const { code, message } = error.failure;
        const fallback = { modelId: extractive.modelId, code, message };
        options.onFallback(fallback);
        return { ...(await goOn(error.before, { question, asking, extractive })), fallback };
      }
    },
  };
}

/** A failure together with what a reader has seen by then. */
class BrokenOffError extends Error {
  readonly failure: ModelFailure;
  readonly before: BrokenOff;

  constructor(failure: ModelFailure, before: BrokenOff) {
    super(failure.message);
    this.failure = failure;
    this.before = before;
  }
}

const nothing: BrokenOff = { shown: '', citations: [] };

/** @throws BrokenOffError where there is nothing to ask about, or nobody to ask */
function refuseToAsk({ given }: Prompt, isPaused: boolean): void {
  if (given.length === 0) {
    const why = 'No passage was found that the language model could answer from.';
    throw new BrokenOffError(new ModelFailure('model_not_asked', why), nothing);
  }
  if (!isPaused) return;
  const why = 'The language model is left alone for a while, because it did not answer.';
  throw new BrokenOffError(new ModelFailure('model_paused', why), nothing);
}

/** What a model says wrongly does not speak against its endpoint. */
function isOfEndpoint({ code }: ModelFailure): boolean {
  return code === 'model_failed' || code === 'model_stalled';
}

function createTextFor(
  { given, known }: Prompt,
  { onText }: Asking,
  { passages, secret: key }: ModelEngineOptions,
): CitedText {
  // A key such as `none` is no secret: words of the docs must not look like one.
  const secret = key === undefined || known.includes(key) ? undefined : key;
  return createCitedText({ given, known, secret, isCurrent: passages.isCurrent, onText });
}

/** Listens until the model has ended, or has said all that counts. */
async function listen(
  text: CitedText,
  pieces: ReturnType<ChatClient['complete']>,
): Promise<Spoken> {
  let spoken: Spoken = { reason: 'stop', usage: undefined };
  for await (const piece of pieces) {
    if (piece.kind === 'end') spoken = piece;
    else await text.add(piece.text);
    if (text.state !== 'open') break;
  }
  await text.finish();
  return { ...spoken, reason: text.state === 'full' ? 'length' : spoken.reason };
}

interface Finishing {
  readonly prompt: Prompt;
  readonly spoken: Spoken;
  readonly asking: Asking;
}

function finish(text: CitedText, { prompt, spoken, asking }: Finishing): Answer {
  const { reason: finishReason, usage } = spoken;
  const known = usage === undefined ? {} : { usage };
  if (text.state === 'abstained') {
    const nearest = prompt.given.slice(0, nearestSections).map(({ citation }) => citation);
    const answer = composeAbstention(nearest);
    asking.onText(answer.text);
    return { ...answer, ...known };
  }
  const citations = bestFirst(text.citations);
  const ending = `\n\n${printSources(citations)}`;
  asking.onText(ending);
  return { text: text.shown + ending, citations, abstained: false, finishReason, ...known };
}

interface GoingOn {
  readonly question: Question;
  readonly asking: Asking;
  readonly extractive: AnswerEngine;
}

/** Has the other engine answer, after what was shown. */
async function goOn(before: BrokenOff, { question, asking, extractive }: GoingOn): Promise<Answer> {
  if (before.shown === '') return extractive.answer(question, asking);
  const { signal } = asking;
  const other = await extractive.answer(question, { signal, onText: () => {} });
  const answer = continueBrokenOff(before, other);
  asking.onText(answer.text.slice(before.shown.length));
  return answer;
}

/** Leaves an endpoint alone that does not answer, so that not every question waits for it. */
interface Pause {
  readonly isOn: boolean;
  noteFailure(failure: ModelFailure): void;
  noteAnswer(): void;
}

/** After how many failures in a row it is left alone, and for how long at most. */
const limits = { failures: 5, pauseMs: 30_000, longestMs: 60_000 } as const;

/** Creates the pause of one endpoint. */
function createPause(clock: Clock): Pause {
  let failures = 0;
  let untilMs = 0;
  return {
    get isOn() {
      return clock.now() < untilMs;
    },
    noteFailure: ({ retryAfterSeconds = 0 }) => {
      failures += 1;
      const ownMs = failures >= limits.failures ? limits.pauseMs : 0;
      const pauseMs = Math.max(ownMs, Math.min(limits.longestMs, retryAfterSeconds * 1000));
      untilMs = clock.now() + pauseMs;
    },
    noteAnswer: () => {
      failures = 0;
    },
  };
}
