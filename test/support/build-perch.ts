import { rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { bundle } from '../../scripts/bundle.ts';
import { packagePath } from '../../src/lib/files/package-path.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the `perch` command, built for this test run. */
    readonly perchMain: string;
  }
}

/** Programs that tests start, which are built too: to start them from their sources takes five times as long. */
const programs = {
  'key-writer': 'test/support/key-writer.ts',
  'kill-at-step': 'test/support/kill-at-step.ts',
  'session-server': 'test/support/session-server.ts',
};

/** Builds the `perch` command once for all tests that start it, and deletes it afterwards. */
export async function setup({ provide }: TestProject): Promise<() => void> {
  const folder = packagePath(`node_modules/.perch-test-${process.pid}`);
  await bundle(folder, { programs });
  provide('perchMain', `${folder}/main.js`);
  return () => rmSync(folder, { recursive: true, force: true });
}
