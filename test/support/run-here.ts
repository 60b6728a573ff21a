import { runCommand } from '../../src/cli/run.ts';

/** Result of a command that ran in the test's process. */
export interface RanHere {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `perch` in the test's process with only the given environment variables. */
export async function runHere(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<RanHere> {
  const written = { stdout: '', stderr: '' };
  const into = (name: keyof typeof written) => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const code = await runCommand(args, { env, stdout: into('stdout'), stderr: into('stderr') });
  return { code, ...written };
}
