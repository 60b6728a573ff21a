/** Logistic model of confidence, fitted by `bench/answers/fit-confidence.ts`. Answers need at least `threshold`. */
export const confidenceModel = {
  bias: -4.29,
  /** Coefficients, in the order of the inputs that `toFeatures` returns. */
  factors: [1.97, 1.56, 0.88, 6.56, -0.88, -2.88, -1.8],
  threshold: 0.2,
};
