import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Only what hangs is stopped: a slow or busy machine must fail no test. */
const hangingMs = 180_000;

/** Files that mock modules, which works only before any other file has imported them. */
const mocking = ['test/unit/access/key-store-faults.test.ts'];

/** Replaced module: see the replacement. */
const entryPoint = {
  find: /^\.\.?\/.*\/lib\/entry-point\.ts$/,
  replacement: fileURLToPath(new URL('test/support/entry-point.ts', import.meta.url)),
};

export default defineConfig({
  resolve: { alias: [entryPoint] },
  test: {
    // Two for each core, because many tests wait for other processes.
    maxWorkers: 2 * availableParallelism(),
    testTimeout: hangingMs,
    hookTimeout: hangingMs,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      // Files share the modules of a worker: to load them for each file takes a third of the time.
      {
        extends: true,
        test: {
          name: 'tests',
          globalSetup: 'test/support/build-perch.ts',
          isolate: false,
          exclude: [...mocking, 'node_modules'],
        },
      },
      { extends: true, test: { name: 'mocks', include: mocking } },
    ],
  },
});
