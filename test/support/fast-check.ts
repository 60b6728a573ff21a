import fc from 'fast-check';
import { isLongRun } from './long-run.ts';

/** Returns the number of inputs for a property: the number for a long run, or a fifth of it. */
export function runs(ofLongRun: number): number {
  return isLongRun ? ofLongRun : Math.ceil(ofLongRun / 5);
}

const seed = process.env.PERCH_TEST_SEED ?? '1';

/**
 * Properties use the same inputs in each run, so that a failure has its cause in a change of the code.
 * `PERCH_TEST_SEED` sets another seed, or `random` for new inputs.
 */
fc.configureGlobal({ numRuns: runs(100), ...(seed === 'random' ? {} : { seed: Number(seed) }) });

export { fc };
