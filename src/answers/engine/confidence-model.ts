/**
 * Logistic model that estimates the confidence of an answer, fitted by
 * `bench/answers/fit-confidence.ts`. `threshold`: minimum confidence at which Perch answers.
 */
export const confidenceModel = {
  bias: -4.29,
  /**
   * Coefficients of the logistic model, one for each feature, in the order of the features that `toFeatures` returns.
   */
  factors: [1.97, 1.56, 0.88, 6.56, -0.88, -2.88, -1.8],
  threshold: 0.35,
};
