/** A question, with the earlier turns of the same session, oldest first. */
export interface Question {
  readonly text: string;
  readonly earlier: readonly EarlierTurn[];
}

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
  /** The heading of the section as readers see it; empty before the first heading of a file. */
  readonly heading: string;
  /** The first and the last line of what was used, from 1. */
  readonly line: number;
  readonly endLine: number;
  /** How much speaks for it, from 0 to 1; comparable within an answer. */
  readonly score: number;
}

/** An answer to a question. */
export interface Answer {
  /** Markdown; ends with the citations as `path#heading:line`, the heading as a slug. */
  readonly text: string;
  /** Best first, at most five. Empty if `abstained`. */
  readonly citations: readonly Citation[];
  /** True if the corpus does not answer the question; the text says so then. */
  readonly abstained: boolean;
  /** `length` if the text was cut. */
  readonly finishReason: 'stop' | 'length';
  /** What a language model counted, by names such as `inputTokens`; absent if unknown. */
  readonly usage?: Readonly<Record<string, number>>;
  /** Present if another engine than the language model answered, or ended the answer. */
  readonly fallback?: Fallback;
}

/** Who answered in place of a language model, and why. */
export interface Fallback {
  /** The `modelId` of the engine that answered. */
  readonly modelId: string;
  readonly code: FallbackCode;
  /** A sentence for people, without anything that the endpoint of the model sent. */
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

/** What a turn passes to an engine besides the question. */
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
export function toExtractiveEngine(
  answer: AnswerEngine['answer'],
  isReady: () => boolean,
): AnswerEngine {
  return {
    modelId: 'perch/extractive',
    get isReady() {
      return isReady();
    },
    answer,
  };
}

/** A passage for a language model. */
export interface GivenPassage {
  /** Its row in the index. */
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
