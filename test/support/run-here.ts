import { Readable } from 'node:stream';
import { runCommand } from '../../src/cli/run.ts';

/** Result of a command that ran in the test's process. */
export interface RanHere {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface HereOptions {
  readonly stdin?: string;
  /** Outputs that are a terminal. */
  readonly terminals?: readonly ('stdout' | 'stderr')[];
}

/** Runs `perch` in the test's process with only the given environment variables. */
export async function runHere(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { stdin = '', terminals = [] }: HereOptions = {},
): Promise<RanHere> {
  const written = { stdout: '', stderr: '' };
  const into = (name: keyof typeof written) => ({
    isTTY: terminals.includes(name),
    write: (text: string) => {
      written[name] += text;
    },
  });
  const outputs = { stdout: into('stdout'), stderr: into('stderr') };
  const code = await runCommand(args, {
    env,
    stdin: Readable.from([Buffer.from(stdin)]),
    ...outputs,
  });
  return { code, ...written };
}

/** Runs `perch archive` with a data directory in the test's process. */
export const runArchive = (folder: string, ...args: readonly string[]): Promise<RanHere> =>
  runHere(['archive', ...args], { PERCH_DATA_DIR: folder });

/** Parses the lines of JSON that a command has printed. */
export const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
