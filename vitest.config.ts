import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Only what hangs is stopped: a slow or busy machine must fail no test. */
const hangingMs = 180_000;

export default defineConfig({
  test: {
    globalSetup: 'test/support/build-perch.ts',
    maxWorkers: availableParallelism(),
    testTimeout: hangingMs,
    hookTimeout: hangingMs,
    expect: { poll: { timeout: 60_000 } },
  },
});
