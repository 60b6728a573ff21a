import type { Clock } from '../../core/clock.ts';
import { openPostClient } from '../../core/post-client.ts';
import type { AnswerEngine, Fallback } from '../answer.ts';
import type { ExtractiveEngine } from '../engine/extractive-engine.ts';
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

/** What the engine is opened with besides. */
export interface ModelOpening {
  readonly extractive: ExtractiveEngine;
  readonly clock: Clock;
  readonly onFallback?: ((fallback: Fallback) => void) | undefined;
}

/** An engine, and the end of its connections. */
export interface OpenModelEngine {
  readonly engine: AnswerEngine;
  close(): Promise<void>;
}

/** Opens the engine that answers by a language model; nothing is sent before a question. */
export function openModelEngine(choice: ModelChoice, opening: ModelOpening): OpenModelEngine {
  const { extractive, clock, onFallback = () => {} } = opening;
  const client = openPostClient({ ...choice, clock });
  const engine = createModelEngine({
    extractive,
    passages: extractive.passages,
    chat: createChatClient({ ...choice, client, clock }),
    clock,
    maxCharacters: choice.maxCharacters,
    secret: choice.key,
    onFallback,
  });
  return { engine, close: () => client.close() };
}
