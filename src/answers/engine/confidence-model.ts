/** Logistic model, fitted by `bench/answers/fit-confidence.ts`. Questions below the threshold are declined. */
export const confidenceModel = {
  bias: -4.29,
  /** In the order of the signs that `toSigns` returns. */
  factors: [1.97, 1.56, 0.88, 6.56, -0.88, -2.88, -1.8],
  threshold: 0.2,
};
