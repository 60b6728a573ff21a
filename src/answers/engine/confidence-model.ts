/** Logistic model, fitted by `bench/answers/fit-confidence.ts`. Uncertain below `threshold`. */
export const confidenceModel = {
  bias: -3.69,
  /** Coefficients in the order of the features that `toFeatures` returns. */
  factors: [1.85, 1.97, 0.94, 5.19, -0.85, -2.87, -1.39],
  threshold: 0.33,
};

/** Logistic model for the first citation to be right, in the order of `toFirstFeatures`. */
export const firstModel = { bias: -1.95, factors: [-0.02, 1.84, 2.42, -0.86, 0.7] };
