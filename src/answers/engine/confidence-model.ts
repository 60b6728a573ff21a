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
  bias: -4.13,
  factors: [1.27, 1.33, 0.85, 0.43, 1.9, -0.12, 0.18, 0.86, -0.47, 2.59],
  threshold: 0.19,
};
