/**
 * Logistic model that estimates whether a question is answerable, fitted by
 * `bench/answers/fit-confidence.ts`. `threshold`: minimum confidence at which an answer is not
 * marked as uncertain.
 */
export const confidenceModel = {
  bias: -3.96,
  /**
   * Coefficients of the logistic model, one for each feature, in the order of the features that
   * `toFeatures` returns.
   */
  factors: [1.76, 1.57, 0.61, 6.34, -1.12, -2.87, -1.67],
  threshold: 0.35,
};

/**
 * Logistic model that estimates whether the first citation is right, in the order of
 * `toFirstFeatures`.
 */
export const firstModel = {
  bias: -1.9,
  factors: [0.97, 1.46, 1.81, -0.88, 1.21],
};
