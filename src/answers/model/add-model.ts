import type { Clock } from '../../core/clock.ts';
import { openPostClient } from '../../core/http/post-client.ts';
import type { Fallback } from '../answer.ts';
import type { Answers } from '../open-answers.ts';
import { createChatClient } from './chat-client.ts';
import { createModelEngine } from './model-engine.ts';
import type { ModelTimes } from './stall-watch.ts';

/** A language model, as the operator has chosen it. */
export interface ModelChoice extends ModelTimes {
  /** The base of an OpenAI-compatible endpoint; `/chat/completions` is appended. */
  readonly url: string;
  readonly model: string;
  readonly key: string | undefined;
  /** The most characters that it is given. */
  readonly maxCharacters: number;
  readonly connectTimeoutMs: number;
  readonly userAgent: string;
}

/** What a model is added with. */
export interface ModelAdding {
  /** Undefined where the operator has none. */
  readonly model: ModelChoice | undefined;
  readonly clock: Clock;
  /** Told of each question that the model did not answer, or not to the end. */
  readonly onFallback?: ((fallback: Fallback) => void) | undefined;
}

/**
 * Gives answers that a language model makes from the same passages, and that close as before; without
 * a model, the same answers. Nothing is sent before a question.
 */
export function addModel(answers: Answers, adding: ModelAdding): Answers {
  const { model, clock, onFallback = () => {} } = adding;
  if (model === undefined) return answers;
  const client = openPostClient({ ...model, clock });
  const engine = createModelEngine({
    extractive: answers.engine,
    passages: answers.passages,
    chat: createChatClient({ ...model, client, clock }),
    clock,
    maxCharacters: model.maxCharacters,
    secret: model.key,
    onFallback,
  });
  const close = () => client.close().finally(() => answers.close());
  return { ...answers, engine, close };
}
