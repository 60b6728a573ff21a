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
  bias: -4.53,
  factors: [2.24, -0.87, 9.85, -1.29, -3.49, -0.25, -2.01],
  threshold: 0.24,
};
