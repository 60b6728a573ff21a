import fc from 'fast-check';

const seed = process.env.PERCH_TEST_SEED ?? '1';

/**
 * Properties try the same inputs in every run, so that a run fails because of a change and never by chance.
 * `PERCH_TEST_SEED` sets another number, or `random` for inputs that no run has had.
 */
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) });

export { fc };
