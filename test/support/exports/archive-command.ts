import { Readable } from 'node:stream';
import { archiveCommand } from '../../../src/cli/archive.ts';
import { createOutput } from '../../../src/cli/output/output.ts';
import { loadConfig } from '../../../src/config/config.ts';

/** Result of running the command. */
export interface RunOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `perch archive` with a data directory in this process. */
export const runArchive = (dataDir: string, ...args: readonly string[]): Promise<RunOutcome> =>
  runArchiveWith({ PERCH_DATA_DIR: dataDir }, ...args);

/** Runs `perch archive` with environment variables in this process. */
export async function runArchiveWith(
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<RunOutcome> {
  const written = { stdout: '', stderr: '' };
  const into = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const loaded = loadConfig(env);
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  const code = await archiveCommand.plan(args)({
    config: loaded.config,
    settings: new Map(),
    warnings: [],
    stdin: Readable.from([]),
    stdout: createOutput(into('stdout')),
    stderr: createOutput(into('stderr')),
  });
  return { code, ...written };
}
