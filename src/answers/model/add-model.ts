import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import { openPostClient, type PostClient } from '../../core/http/post-client.ts';
import type { Answer, AnswerEngine, Asking, Citation, Fallback } from '../answer.ts';
import {
  bestFirst,
  composeAbstention,
  cutAtWord,
  maxAnswerLength,
  maxCitations,
  printSources,
} from '../engine/compose.ts';
import type { Answers } from '../open-answers.ts';
import { type ChatModel, type ChatPiece, completeChat } from './chat-client.ts';
import { CitedText } from './cited-text.ts';
import { ModelFailure } from './model-failure.ts';
import { buildPrompt, type Prompt } from './prompt.ts';

/** A language model, as the operator has chosen it. */
export interface ModelChoice extends ChatModel {
  readonly maxCharacters: number;
  readonly connectTimeoutMs: number;
  readonly userAgent: string;
}

/** Options of `addModel`. */
export interface ModelAdding {
  readonly model: ModelChoice | undefined;
  readonly clock: Clock;
  /** Called for each question that the model did not answer, or not to the end. */
  readonly onFallback?: ((fallback: Fallback) => void) | undefined;
}

/**
 * Returns answers by a language model from found passages, with citations that are verified before a reader sees them.
 * If it fails, stalls, or cites what is not there, the extractive engine answers, and `fallback` says so.
 */
export function addModel(answers: Answers, { model, clock, onFallback }: ModelAdding): Answers {
  if (model === undefined) return answers;
  const client = openPostClient({ ...model, clock });
  return {
    ...answers,
    engine: createModelEngine(answers, { model, clock, client, onFallback }),
    close: () => client.close().finally(() => answers.close()),
  };
}

interface ModelContext extends ModelAdding {
  readonly model: ModelChoice;
  readonly client: PostClient;
}

function createModelEngine(
  { engine: extractive, passages }: Answers,
  { model, clock, client, onFallback }: ModelContext,
): AnswerEngine {
  const pause = createPause(clock);
  return {
    modelId: model.model,
    get isReady() {
      return extractive.isReady;
    },
    answer: async (question, asking) => {
      await nextTurn();
      const { signal, onText } = asking;
      signal.throwIfAborted();
      const prompt = buildPrompt(question, await passages.find(question), model.maxCharacters);
      // A key such as `none` is no secret: words of the docs must not look like one.
      const secret = model.key && !prompt.known.includes(model.key) ? model.key : undefined;
      const text = new CitedText({ ...prompt, secret, isCurrent: passages.isCurrent, onText });
      try {
        refuseToAsk(prompt, pause.isOn());
        const pieces = completeChat({ ...model, client, clock }, prompt.messages, signal);
        const end = await listen(text, pieces);
        pause.noteAnswer();
        return finish(text, { prompt, end, onText });
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof ModelFailure)) throw error;
        pause.noteFailure(error);
        const { code, message } = error;
        const fallback = { modelId: extractive.modelId, code, message };
        onFallback?.(fallback);
        return { ...(await goOn(text, extractive, [question, asking])), fallback };
      }
    },
  };
}

/** @throws ModelFailure if there is nothing to answer from, or the endpoint is left alone */
function refuseToAsk({ given }: Prompt, isPaused: boolean): void {
  const noPassage = 'No passage was found that the language model could answer from.';
  if (given.length === 0) throw new ModelFailure('model_not_asked', noPassage);
  const paused = 'The language model is left alone for a while, because it did not answer.';
  if (isPaused) throw new ModelFailure('model_paused', paused);
}

type ChatEnd = Omit<Extract<ChatPiece, { kind: 'end' }>, 'kind'>;

async function listen(text: CitedText, pieces: AsyncIterable<ChatPiece>): Promise<ChatEnd> {
  let end: ChatEnd = { reason: 'stop', usage: undefined };
  for await (const piece of pieces) {
    if (piece.kind === 'end') end = piece;
    else await text.add(piece.text);
    if (text.state !== 'open') break;
  }
  await text.finish();
  return { ...end, reason: text.state === 'full' ? 'length' : end.reason };
}

/** Maximum number of sections that an answer names if it does not answer. */
const nearestSections = 3;

type Finishing = Readonly<{ prompt: Prompt; end: ChatEnd; onText: Asking['onText'] }>;

function finish(text: CitedText, { prompt, end, onText }: Finishing): Answer {
  const { reason: finishReason, usage } = end;
  const counted = usage === undefined ? {} : { usage };
  if (text.state === 'abstained') {
    const nearest = prompt.given.slice(0, nearestSections);
    const answer = composeAbstention(nearest.map(({ citation }) => citation));
    onText(answer.text);
    return { ...answer, ...counted };
  }
  const citations = bestFirst(text.citations);
  const ending = `\n\n${printSources(citations)}`;
  onText(ending);
  return { text: text.shown + ending, citations, abstained: false, finishReason, ...counted };
}

/** Answers with the extractive engine, after what was shown. */
async function goOn(
  before: CitedText,
  { answer: answerBy }: AnswerEngine,
  [question, asking]: Parameters<AnswerEngine['answer']>,
): Promise<Answer> {
  if (before.shown === '') return answerBy(question, asking);
  const { signal, onText } = asking;
  const other = await answerBy(question, { signal, onText: () => {} });
  const answer = continueBrokenOff(before, other);
  onText(answer.text.slice(before.shown.length));
  return answer;
}

const alone = 'The answer of the language model broke off here.';
const continued = `${alone} The documentation says:`;

/** Continues an answer that broke off: what was shown, why it stops, the other answer, and the sources of both. */
export function continueBrokenOff(
  { shown, citations: before }: Pick<CitedText, 'shown' | 'citations'>,
  other: Answer,
): Answer {
  const citations = joinCitations(before, other.abstained ? [] : other.citations);
  const sources = printSources(citations);
  const room = maxAnswerLength - shown.length - continued.length - sources.length - 6;
  const body = other.abstained ? '' : bodyOf(other);
  const told = body.length <= room ? body : cutAtWord(body, room);
  const parts = told === '' ? [shown, alone] : [shown, continued, told];
  return {
    text: [...parts, sources].join('\n\n'),
    citations,
    abstained: false,
    finishReason: told === body ? other.finishReason : 'length',
  };
}

function bodyOf({ text, citations }: Answer): string {
  const sources = printSources(citations);
  return (text.endsWith(sources) ? text.slice(0, -sources.length) : text).trim();
}

/** Two places in one section are one source. */
function joinCitations(before: readonly Citation[], more: readonly Citation[]) {
  const others = more.filter(
    ({ path, heading }) => !before.some((one) => one.path === path && one.heading === heading),
  );
  return bestFirst([...before, ...others].slice(0, maxCitations));
}

/** After how many failures in a row the endpoint is left alone, and for how long at most. */
const limits = { failures: 5, pauseMs: 30_000, longestMs: 60_000 } as const;

/** Creates the pause of an endpoint that does not answer, so that not every question waits for it. */
function createPause(clock: Clock) {
  let failures = 0;
  let untilMs = 0;
  return {
    isOn: () => clock.now() < untilMs,
    noteFailure: ({ code, retryAfterSeconds = 0 }: ModelFailure) => {
      // Wrong words of a model are no fault of its endpoint.
      if (code !== 'model_failed' && code !== 'model_stalled') return;
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
