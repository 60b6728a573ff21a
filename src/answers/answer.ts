/** A question, with what was said before it in the same session, oldest first. */
export interface Question {
  readonly text: string;
  readonly earlier: readonly EarlierTurn[];
}

/** A turn of the session that was answered before. */
export interface EarlierTurn {
  readonly question: string;
  readonly answer: string;
  readonly citations: readonly Citation[];
}

/** A place in a corpus that an answer rests on. */
export interface Citation {
  /** Relative to the corpus, with `/`; with the name of the corpus before it where there are several. */
  readonly path: string;
  /** The heading of the section as readers see it; empty before the first heading of a file. */
  readonly heading: string;
  /** The first and the last line of what was used, from 1. */
  readonly line: number;
  readonly endLine: number;
  /** How much speaks for it, from 0 to 1; comparable within an answer. */
  readonly score: number;
}

/** What was found. */
export interface Answer {
  /** Markdown for a reader; ends with the citations as `path#heading:line`, the heading as a slug. */
  readonly text: string;
  /** Best first, at most five. Empty where `abstained`. */
  readonly citations: readonly Citation[];
  /** True where the corpus does not answer the question; the text says so then. */
  readonly abstained: boolean;
  /** `length` where the text was cut. */
  readonly finishReason: 'stop' | 'length';
  /** What a language model counted, by names such as `inputTokens`; absent where nothing is known. */
  readonly usage?: Readonly<Record<string, number>>;
  /** Present where another than the engine's own model has answered, or ended the answer. */
  readonly fallback?: Fallback;
}

/** Who answered in the place of a language model, and why. */
export interface Fallback {
  /** What the events call who answered. */
  readonly modelId: string;
  readonly code: FallbackCode;
  /** A sentence for people. Says nothing that the endpoint of the model has sent. */
  readonly message: string;
}

/** Why a language model did not answer, or not to the end. */
export type FallbackCode =
  | 'model_failed'
  | 'model_stalled'
  | 'model_uncited'
  | 'model_miscited'
  | 'model_paused'
  | 'model_not_asked';

/** What a turn gives an engine besides the question. */
export interface Asking {
  /** Aborted when the turn is cancelled or out of time. The engine stops soon then, and throws its reason. */
  readonly signal: AbortSignal;
  /** Told of the text piece by piece, in order; the pieces together are the answer's text. */
  onText(piece: string): void;
}

/** Answers questions about corpora. */
export interface AnswerEngine {
  /** What the events call it: `perch/extractive`, or the name of a language model. */
  readonly modelId: string;
  /** False while the index is being built for the first time. */
  readonly isReady: boolean;
  answer(question: Question, asking: Asking): Promise<Answer>;
}
