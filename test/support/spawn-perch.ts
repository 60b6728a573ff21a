import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { noLoadLimit } from './build-app.ts';

/** Exit status and output of a process. */
export interface Ended {
  readonly code: number | null;
  /** Signal that ended the process; `null` for a normal exit. */
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Running `perch` process. */
export interface PerchProcess {
  readonly ended: Promise<Ended>;
  /** Resolves with the first match in its standard output. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the first match in its standard error. */
  told(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
}

/** Path of a program of the tests that was built with `perch`. */
export const builtProgram = (name: 'key-writer' | 'kill-at-step' | 'session-server'): string =>
  join(dirname(inject('perchMain')), `${name}.js`);

/** Creates an empty folder that is deleted at the end of the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'perch-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Settings of processes: sessions build an index first, which takes longer than the start of the server. */
const light = { ...noLoadLimit, PERCH_SESSIONS: 'off' } as const;

/** Starts `perch` in an empty folder with the given environment variables, and without sessions unless they ask for them. */
export function spawnPerch(
  args: readonly string[],
  env: Record<string, string> = {},
  {
    stdout = 'read',
    nodeArgs = [],
  }: { readonly stdout?: 'read' | 'closed'; readonly nodeArgs?: readonly string[] } = {},
): PerchProcess {
  const folder = temporaryFolder();
  const child = spawn(process.execPath, [...nodeArgs, inject('perchMain'), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', PERCH_DATA_DIR: `${folder}/data`, ...light, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (stdout === 'closed') child.stdout.destroy();
  const written = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, ...written }));
  });
  const find = (name: keyof typeof written, pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(written[name]);
        if (match === null) return;
        listeners.delete(look);
        resolve(match);
      };
      listeners.add(look);
      void ended.then((end) => reject(new Error(`perch ended: ${JSON.stringify(end)}`)));
      look();
    });
  return {
    ended,
    kill: (signal) => void child.kill(signal),
    printed: (pattern) => find('stdout', pattern),
    told: (pattern) => find('stderr', pattern),
  };
}
