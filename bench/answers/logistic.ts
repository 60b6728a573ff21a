export interface Sample {
  readonly features: readonly number[];
  readonly isPositive: boolean;
  readonly weight: number;
}

export interface Logistic {
  readonly bias: number;
  readonly factors: readonly number[];
}

const steps = 8000;
const rate = 2;
/** Strength of the ridge (L2) regularization. */
const ridge = 0.0003;

/**
 * Fits a logistic regression by gradient descent. If `isBalanced`, positive and negative samples have the same total
 * weight; otherwise, the probabilities are calibrated to their shares.
 */
export function fitLogistic(
  samples: readonly Sample[],
  { isBalanced }: { readonly isBalanced: boolean },
): Logistic {
  const total = (isPositive: boolean) =>
    samples.reduce((sum, one) => sum + (one.isPositive === isPositive ? one.weight : 0), 0);
  const all = total(true) + total(false);
  const shares = isBalanced
    ? { true: 0.5 / total(true), false: 0.5 / total(false) }
    : { true: 1 / all, false: 1 / all };
  const size = samples[0]?.features.length ?? 0;
  let bias = 0;
  const factors = new Array<number>(size).fill(0);
  for (let step = 0; step < steps; step += 1) {
    let biasSlope = 0;
    const slopes = factors.map((factor) => ridge * factor);
    for (const { features, isPositive, weight } of samples) {
      const error = chance({ bias, factors }, features) - (isPositive ? 1 : 0);
      const pull = error * weight * shares[`${isPositive}`];
      biasSlope += pull;
      features.forEach((feature, at) => {
        slopes[at] = (slopes[at] ?? 0) + pull * feature;
      });
    }
    bias -= rate * biasSlope;
    slopes.forEach((slope, at) => {
      factors[at] = (factors[at] ?? 0) - rate * slope;
    });
  }
  return { bias, factors };
}

/** Returns the probability that a sample with the given features is positive. */
export function chance({ bias, factors }: Logistic, features: readonly number[]): number {
  return (
    1 /
    (1 + Math.exp(-features.reduce((sum, feature, at) => sum + feature * (factors[at] ?? 0), bias)))
  );
}
