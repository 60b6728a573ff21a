import type { TraceSpan } from '../core/tracing/tracing.ts';

/** Question to answer, with the earlier questions and answers of the same session, oldest first. */
export type Question = Readonly<{ text: string; earlier: readonly EarlierTurn[] }>;

export interface EarlierTurn {
  readonly question: string;
  readonly answer: string;
  readonly citations: readonly Citation[];
}

/** Section of a document that an answer quotes or is based on. */
export interface Citation {
  /** Path of the file in its corpus (document folder), preceded by the corpus name if there are several corpora. */
  readonly path: string;
  /** Heading of the section without Markdown syntax. It is empty for text before the first heading of a file. */
  readonly heading: string;
  /** Number of the first line of the quoted text, counted from 1. */
  readonly line: number;
  /** Number of the last line of the quoted text. */
  readonly endLine: number;
  /** Relevance of the section to the question, from 0 to 1. Scores of different answers are not comparable. */
  readonly score: number;
}

export interface Answer {
  /**
   * Answer as Markdown. It ends with the list of citations in the form `path#heading:line`, where
   * `heading` is a slug.
   */
  readonly text: string;
  /** Up to five citations, most relevant first. The list is empty if the question is about something else entirely. */
  readonly citations: readonly Citation[];
  /**
   * Whether the engine found no answer in the documents, or is not sure that it did. The first sentence of `text` states
   * this. An uncertain answer quotes and cites the nearest sections.
   */
  readonly abstained: boolean;
  /** Reason why the text ends: `length` if the text was truncated, otherwise `stop`. */
  readonly finishReason: 'stop' | 'length';
  /** Token counts that the language model reported, such as `inputTokens`; absent if unknown. */
  readonly usage?: Readonly<Record<string, number>>;
  readonly fallback?: Fallback;
}

/**
 * Reason why the answer of a language model is missing or incomplete. `modelId` names the engine that answered instead,
 * or that completed the answer.
 */
export interface Fallback {
  readonly modelId: string;
  readonly code: FallbackCode;
  /** Reason for the fallback, as a sentence for users. Never quotes the response of the model's endpoint. */
  readonly message: string;
}

/** Reason why the answer of a language model is missing or incomplete. */
export type FallbackCode =
  | 'model_failed'
  | 'model_stalled'
  | 'model_uncited'
  | 'model_miscited'
  | 'model_paused'
  | 'model_not_asked';

export interface EngineCallOptions {
  /** Signal that cancels the answer, for example after a timeout. The engine then throws the signal's reason. */
  readonly signal: AbortSignal;
  /** Called with each part of the answer's text, in order. The parts together form the whole text. */
  onText(piece: string): void;
  /** Tracing span of the question and its answer; `undefined` if tracing is off. */
  readonly span?: TraceSpan | undefined;
}

export interface AnswerEngine {
  /** Name of the engine in session events: `perch/extractive`, or the name of a language model. */
  readonly modelId: string;
  /** Whether the engine can answer questions. It cannot until the search index has been built once. */
  readonly isReady: boolean;
  answer(question: Question, call: EngineCallOptions): Promise<Answer>;
}

/** Creates an `AnswerEngine` that is named `perch/extractive` and answers with quotations from documents. */
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
  /** Row id of the passage (section of a document) in the search index. */
  readonly id: number;
  readonly citation: Citation;
  /** Headings of the sections that contain the passage, outermost first, followed by the passage's own heading. */
  readonly trail: readonly string[];
  /** Full text of the passage as Markdown. */
  readonly text: string;
}

/** Source of the passages (sections of documents) that a language model answers from. It may run in another thread. */
export interface PassageSource {
  /** Returns the passages that match a question. The passages that an answer without a model would cite come first. */
  find(question: Question): Promise<readonly PromptPassage[]>;
  /** Returns whether the search index still contains the passage unchanged. */
  isCurrent(passage: PromptPassage): Promise<boolean>;
}
