import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Server to measure, which runs in a separate process. */
export interface Target {
  readonly name: string;
  readonly url: string;
  /** Headers of each request that the benchmark sends to the server. */
  readonly headers: Readonly<Record<string, string>>;
  readonly pid: number;
  /** Milliseconds from the start of the process to the first response. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** Server to start. `args` are arguments of Node.js; `url` responds once the server is ready. */
export interface TargetOptions {
  readonly name: string;
  readonly args: readonly string[];
  readonly url: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** CPU cores of the server: `any` for all cores; `own`, the default, for a dedicated core. */
  readonly cores?: 'own' | 'any';
}

/** Whether the measured servers and the load generator run on separate CPU cores. */
export const isPinned = cpus().length > 1 && isInstalled('taskset');

/** Arguments for Node.js to run TypeScript sources. */
export const fromSources: readonly string[] = ['--import', import.meta.resolve('tsx')];

/**
 * Returns a command that runs `command` on the given CPU core. Returns `command` unchanged if the
 * system cannot bind processes to a core.
 */
export function onCore(core: number, command: string, args: readonly string[]): [string, string[]] {
  return isPinned ? ['taskset', ['-c', String(core), command, ...args]] : [command, [...args]];
}

/** Starts a server and waits for the server's first response. */
export async function startTarget(options: TargetOptions): Promise<Target> {
  const { name, args, url, env, headers = {}, cores = 'own' } = options;
  const begin = performance.now();
  const [command, given] =
    cores === 'own' ? onCore(0, process.execPath, args) : [process.execPath, [...args]];
  const child = spawn(command, given, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  await firstAnswer(url, child);
  const startMs = performance.now() - begin;
  return { name, url, headers, pid: child.pid ?? 0, startMs, stop: () => stop(child) };
}

async function firstAnswer(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 5000; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${url}: the server has exited`);
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) {
      await answer.arrayBuffer();
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`${url}: no response`);
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

const ticksPerSecond = 100;

/** Returns the CPU seconds used by all threads of a process (proc(5), stat). */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Returns the resident memory of a process in MiB (proc(5), status). */
export function residentMiB(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) / 1024;
}

export function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // `which` exits with 1 if it finds no program
  }
}
