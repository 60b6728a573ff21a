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
  bias: -4.75,
  factors: [2.11, 1.91, 1.23, 7.22, -1.2, -3.65, -2.07],
  threshold: 0.2,
};
