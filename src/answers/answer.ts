import * as z from 'zod';
import type { TraceSpan } from '../lib/tracing/tracing.ts';

/** Question to answer, with the earlier questions and answers of the same session, oldest first. */
export type Question = Readonly<{ text: string; earlier: readonly EarlierTurn[] }>;

export interface EarlierTurn {
  readonly question: string;
  readonly answer: string;
  readonly citations: readonly Citation[];
}

export const citation = z
  .object({
    path: z
      .string()
      .describe(
        'Path of the file in its folder of documents, preceded by the name of the folder if there are several.',
      ),
    heading: z
      .string()
      .describe(
        'Heading of the section as plain text. Empty for text before the first heading of a file.',
      ),
    line: z.int().describe('Number of the first line of the quoted text, from 1.'),
    endLine: z.int().describe('Number of the last line of the quoted text.'),
    score: z
      .number()
      .describe(
        'Relevance of the section to the question, from 0 to 1. Not comparable between answers.',
      ),
    title: z.string().exactOptional().describe('Title of the document, if it has one.'),
    url: z
      .string()
      .exactOptional()
      .describe('Absolute URL of the section, if this server has a page with the document.'),
  })
  .meta({ id: 'SessionCitation' });

export type Citation = Readonly<z.output<typeof citation>>;

const message = z.string().describe('Complete answer as Markdown.');
const citations = z.array(citation).describe('Sources of the answer, most relevant first.');
const abstained = z
  .boolean()
  .describe(
    'Whether the corpus has no answer to the question, or the answer is uncertain. An uncertain answer has citations.',
  );

/** Schemas of the members with which JSON describes an answer, except `finishReason`. */
export const answerMembers = { message, citations, abstained };

/** Schema of an answer as JSON, outside of a session. */
export const answerReply = z
  .object({ message, finishReason: z.enum(['stop', 'length']), citations, abstained })
  .meta({ id: 'Answer' });

export function toAnswerReply(answer: Answer) {
  const { text: message, finishReason, citations, abstained } = answer;
  return { message, finishReason, citations, abstained };
}

export interface Answer {
  /** Answer as Markdown, ending with citations such as `path#heading:line` (`heading`: slug). */
  readonly text: string;
  /** Up to five citations, most relevant first; empty if the question is about something else. */
  readonly citations: readonly Citation[];
  /** Whether the engine found no answer or is unsure. The first sentence of `text` states this. */
  readonly abstained: boolean;
  /** Reason why the text ends: `length` if the text was truncated, otherwise `stop`. */
  readonly finishReason: 'stop' | 'length';
  /** Token counts that the language model reported, such as `inputTokens`; absent if unknown. */
  readonly usage?: Readonly<Record<string, number>>;
  readonly fallback?: Fallback;
}

/** Failure of a language model. `modelId` names the engine that answered or completed instead. */
export interface Fallback {
  readonly modelId: string;
  readonly code: FallbackCode;
  /** Reason as a sentence for users. Never quotes the response of the model's endpoint. */
  readonly message: string;
}

export type FallbackCode =
  | 'model_failed'
  | 'model_stalled'
  | 'model_uncited'
  | 'model_miscited'
  | 'model_paused'
  | 'model_not_asked'
  | 'model_declined';

export interface EngineCallOptions {
  /** Signal that cancels the answer. The engine then throws the signal's reason. */
  readonly signal: AbortSignal;
  /** Called with each part of the answer's text, in order. Together they form the whole text. */
  onText(piece: string): void;
  readonly span?: TraceSpan | undefined;
}

export interface AnswerEngine {
  /** Name of the engine in session events: `perch/extractive`, or the name of a language model. */
  readonly modelId: string;
  /** Whether the engine can answer. It cannot until the index has been built once. */
  readonly isReady: boolean;
  answer(question: Question, call: EngineCallOptions): Promise<Answer>;
}

/** Creates an engine named `perch/extractive` that answers with quotations from documents. */
export function toExtractiveEngine(answer: AnswerEngine['answer'], isReady: () => boolean) {
  return {
    modelId: 'perch/extractive',
    get isReady() {
      return isReady();
    },
    answer,
  };
}

export interface PromptPassage {
  readonly id: number;
  readonly citation: Citation;
  /** Headings of the containing sections, outermost first, then the passage's own heading. */
  readonly trail: readonly string[];
  readonly text: string;
}

/** Source of the passages for a language model. It may run in another thread. */
export interface PassageSource {
  /** Returns matching passages; those that an answer without a model would cite come first. */
  find(question: Question): Promise<readonly PromptPassage[]>;
  /** Returns whether the search index still contains the passage unchanged. */
  isCurrent(passage: PromptPassage): Promise<boolean>;
}
