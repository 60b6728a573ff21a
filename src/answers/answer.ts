/** Question to answer, with the earlier turns of the same session, oldest first. */
export type Question = Readonly<{ text: string; earlier: readonly EarlierTurn[] }>;

export interface EarlierTurn {
  readonly question: string;
  readonly answer: string;
  readonly citations: readonly Citation[];
}

/** Section of a corpus that an answer quotes or is based on. */
export interface Citation {
  /** Path relative to the corpus, with `/` as separator. If there are several corpora, starts with the corpus name. */
  readonly path: string;
  /** Heading of the section without Markdown syntax. Empty for text before the first heading of a file. */
  readonly heading: string;
  /** First and last line of the quoted text, counted from 1. */
  readonly line: number;
  readonly endLine: number;
  /** Relevance from 0 to 1. Scores of different answers are not comparable. */
  readonly score: number;
}

export interface Answer {
  /** Markdown that ends with the list of citations as `path#heading:line`, where `heading` is a slug. */
  readonly text: string;
  /** Up to five citations, most relevant first. Empty if `abstained`. */
  readonly citations: readonly Citation[];
  /** Whether the corpus has no answer to the question. The text then says so. */
  readonly abstained: boolean;
  /** Reason why the text ends: `length` if it was truncated, otherwise `stop`. */
  readonly finishReason: 'stop' | 'length';
  /** Token counts that the language model reported, such as `inputTokens`; absent if unknown. */
  readonly usage?: Readonly<Record<string, number>>;
  readonly fallback?: Fallback;
}

/** Engine that replaced a failed language model or completed its answer, and the reason. */
export interface Fallback {
  readonly modelId: string;
  readonly code: FallbackCode;
  /** Reason as a sentence for users. Never quotes the response of the model's endpoint. */
  readonly message: string;
}

/** Reason why a language model gave no answer or an incomplete one. */
export type FallbackCode =
  | 'model_failed'
  | 'model_stalled'
  | 'model_uncited'
  | 'model_miscited'
  | 'model_paused'
  | 'model_not_asked';

export interface EngineCallOptions {
  /** Signal that cancels the answer, also after a timeout. The engine then stops and throws the signal's reason. */
  readonly signal: AbortSignal;
  /** Called with each part of the answer's text, in order. The parts together form the whole text. */
  onText(piece: string): void;
}

export interface AnswerEngine {
  /** Name of the engine in events: `perch/extractive`, or the name of a language model. */
  readonly modelId: string;
  /** Whether questions can be answered. False until the index has been built once. */
  readonly isReady: boolean;
  answer(question: Question, call: EngineCallOptions): Promise<Answer>;
}

/** Creates the engine that answers with quotations from the indexed documents. */
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
  /** Row id of the passage in the index. */
  readonly id: number;
  readonly citation: Citation;
  /** Headings above the passage and its own heading, outermost first. */
  readonly trail: readonly string[];
  /** Whole passage as Markdown. */
  readonly text: string;
}

/** Source of passages for a language model. The search may run in another thread. */
export interface PassageSource {
  /** Returns matching passages, first those that an extractive answer would cite. The list is empty if none match. */
  find(question: Question): Promise<readonly PromptPassage[]>;
  /** Returns whether the passage is still in the index, unchanged. */
  isCurrent(passage: PromptPassage): Promise<boolean>;
}
