/** A logistic model: from signs to the chance that a question is answered. */
export interface ConfidenceModel {
  readonly bias: number;
  /** In the order of `confidenceSigns`. */
  readonly factors: readonly number[];
  /** Questions below this chance are declined. */
  readonly threshold: number;
}

/** Fitted by `bench/answers/fit-confidence.ts` to the questions beside it. */
export const confidenceModel: ConfidenceModel = {
  bias: -4.214,
  factors: [1.218, 1.414, 0.915, 0.402, 1.867, -0.258, 0.263, 0.906, -0.541, 2.486],
  threshold: 0.187,
};
