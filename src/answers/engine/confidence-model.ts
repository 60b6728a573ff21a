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
  bias: -4.76,
  factors: [2.13, 1.95, 1.34, 7.13, -1.2, -3.64, -2.07],
  threshold: 0.2,
};
