import fc from 'fast-check';
import { isLongRun } from './long-run.ts';

/** Returns how many inputs a property tries: those of a long run, or a fifth of them. */
export function runs(ofLongRun: number): number {
  return isLongRun ? ofLongRun : Math.ceil(ofLongRun / 5);
}

const seed = process.env.PERCH_TEST_SEED ?? '1';

/**
 * Properties try the same inputs in every run, so that a run fails because of a change and never by chance.
 * `PERCH_TEST_SEED` sets another number, or `random` for inputs that no run has had.
 */
fc.configureGlobal({ numRuns: runs(100), ...(seed === 'random' ? {} : { seed: Number(seed) }) });

export { fc };
