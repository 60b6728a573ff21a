import { spawn, spawnSync } from 'node:child_process';
import { inject, onTestFinished } from 'vitest';
import { temporaryFolder } from './spawn-perch.ts';

/** Whether `script` of util-linux is installed. It runs a command in a terminal of its own. */
export const hasTerminal = /util-linux/.test(
  spawnSync('script', ['--version']).stdout?.toString() ?? '',
);

/** Running `perch` process in a terminal. */
export interface PerchInTerminal {
  /** Returns the output so far. */
  printed(): string;
  /** Resolves with the whole output when the process has ended. */
  readonly ended: Promise<string>;
}

/** Starts `perch` in a terminal of 20 columns, in an empty folder, with only the given environment variables. */
export function runInTerminal(
  args: string,
  env: Readonly<Record<string, string>> = {},
): PerchInTerminal {
  const command = `stty cols 20; ${process.execPath} ${inject('perchMain')} ${args}`;
  const cwd = temporaryFolder();
  const basics = { PATH: process.env.PATH, PERCH_DATA_DIR: `${cwd}/data` };
  const terminal = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...basics, ...env },
    cwd,
  });
  onTestFinished(() => void terminal.kill());
  let printed = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const ended = new Promise<string>((resolve) => {
    terminal.on('close', () => resolve(printed));
  });
  return { printed: () => printed, ended };
}
