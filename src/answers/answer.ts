/** A question, with the earlier turns of the same session, oldest first. */
export type Question = Readonly<{ text: string; earlier: readonly EarlierTurn[] }>;

/** An earlier turn of the session, with its answer. */
export interface EarlierTurn {
  readonly question: string;
  readonly answer: string;
  readonly citations: readonly Citation[];
}

/** A place in a corpus that an answer rests on. */
export interface Citation {
  /** Relative to the corpus, with `/`; begins with the name of the corpus if there are several. */
  readonly path: string;
  /** As readers see it; empty before the first heading of a file. */
  readonly heading: string;
  /** The first and the last line of what was used, from 1. */
  readonly line: number;
  readonly endLine: number;
  /** From 0 to 1; comparable within an answer. */
  readonly score: number;
}

export interface Answer {
  /** Markdown; ends with the citations as `path#heading:line`, the heading as a slug. */
  readonly text: string;
  /** Best first, at most five. Empty if `abstained`. */
  readonly citations: readonly Citation[];
  /** True if the corpus does not answer the question; the text says so then. */
  readonly abstained: boolean;
  /** `length` if the text was cut. */
  readonly finishReason: 'stop' | 'length';
  /** Counts by a language model, by names such as `inputTokens`; absent if unknown. */
  readonly usage?: Readonly<Record<string, number>>;
  readonly fallback?: Fallback;
}

/** The engine that answered in place of a language model, or ended its answer, and why. */
export interface Fallback {
  readonly modelId: string;
  readonly code: FallbackCode;
  /** A sentence for people, without anything that the endpoint of the model sent. */
  readonly message: string;
}

/** Reason why a language model did not answer, or not to the end. */
export type FallbackCode =
  | 'model_failed'
  | 'model_stalled'
  | 'model_uncited'
  | 'model_miscited'
  | 'model_paused'
  | 'model_not_asked';

/** Signal and listener of the caller of an engine. */
export interface Asking {
  /** Aborted when the turn is cancelled or out of time. The engine stops soon then, and throws its reason. */
  readonly signal: AbortSignal;
  /** Called with the text piece by piece, in order; the pieces together are the answer's text. */
  onText(piece: string): void;
}

/** Answers questions about corpora. */
export interface AnswerEngine {
  /** Its name in events: `perch/extractive`, or the name of a language model. */
  readonly modelId: string;
  /** False while the index is being built for the first time. */
  readonly isReady: boolean;
  answer(question: Question, asking: Asking): Promise<Answer>;
}

/** Creates the engine that answers with quotations from the index. */
export function toExtractiveEngine(answer: AnswerEngine['answer'], isReady: () => boolean) {
  return {
    modelId: 'perch/extractive',
    get isReady() {
      return isReady();
    },
    answer,
  };
}

/** A passage for a language model; `id` is its row in the index. */
export interface GivenPassage {
  readonly id: number;
  readonly citation: Citation;
  /** The headings above it and its own, outermost first. */
  readonly trail: readonly string[];
  /** The whole passage as Markdown. */
  readonly text: string;
}

/** Finds passages for a language model. May work in another thread. */
export interface PassageSource {
  /** Best first; those that an extractive answer would cite come before others. Empty if nothing fits. */
  find(question: Question): Promise<readonly GivenPassage[]>;
  /** Returns false once the file of the passage has changed. */
  isCurrent(passage: GivenPassage): Promise<boolean>;
}
