import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** A server under measurement, in a process of its own. */
export interface Target {
  readonly name: string;
  readonly url: string;
  /** What each request to it carries. */
  readonly headers: Readonly<Record<string, string>>;
  readonly pid: number;
  /** Milliseconds from its start to its first answer. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** What to start, and where it will answer. */
export interface TargetOptions {
  readonly name: string;
  readonly args: readonly string[];
  readonly url: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** `any` to let it have the whole machine. Default: a core of its own. */
  readonly cores?: 'own' | 'any';
}

/** Whether servers and load generator each get a core of their own, so that neither disturbs the other. */
export const isPinned = cpus().length > 1 && isInstalled('taskset');

/** The arguments with which Node runs the sources. */
export const fromSources: readonly string[] = ['--import', import.meta.resolve('tsx')];

/** Gives a command that runs on one core where cores can be chosen. */
export function onCore(core: number, command: string, args: readonly string[]): [string, string[]] {
  return isPinned ? ['taskset', ['-c', String(core), command, ...args]] : [command, [...args]];
}

/** Starts a server with plain Node and waits for its first answer. */
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
    if (child.exitCode !== null) throw new Error(`${url}: the server has ended`);
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) {
      await answer.arrayBuffer();
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  throw new Error(`${url}: no answer`);
}

function stop(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

const ticksPerSecond = 100;

/** Gives the CPU seconds that a process has used, all its threads together (proc(5), stat). */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Gives the resident memory of a process in MiB (proc(5), status). */
export function residentMiB(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) / 1024;
}

/** Tells whether a program is installed. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // `which` ends with 1 where it finds nothing
  }
}
