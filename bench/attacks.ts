import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type AttackName, attacks } from './attacks/attacks.ts';
import { fillLargeArchive } from './attacks/large-archive.ts';
import {
  type ClientResults,
  type NormalUse,
  trivial,
  useNormally,
} from './attacks/normal-client.ts';
import { measure } from './load.ts';
import { fromSources, residentMiB, startTarget, type Target } from './processes.ts';

// Attacks a server with default settings and a large archive. Each attacker has its own address (127.0.0.2 and up); a normal client on
// 127.0.0.1 sends requests at the same time. The exit code is 1 if the normal client gets slow or failed responses.
//
//   npx tsx bench/attacks.ts [NAME…]      one attack after another, BENCH_ATTACK_SECONDS (20) each
//   npx tsx bench/attacks.ts --all [NAME…] at once for BENCH_ATTACK_MINUTES (10), with normal use of a tenth of
//                                         the capacity

const port = 18_101;
const upstreamPort = 18_102;
const maxSlowestMs = 250;
const maxMiB = 1024;
/** Number of normal clients while all attacks run at once. */
const normalClients = 32;

const path = (name: string) => join(import.meta.dirname, name);

/** Runs a script of this folder in a separate process. */
function run(script: string, ...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [...fromSources, path(script), ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

/** Starts an attacker with low CPU priority, because a real attacker would run on another machine. */
function runAttacker(name: AttackName, index: number): ChildProcess {
  const child = run('attacks/attacks.ts', name, String(port), `127.0.0.${index + 2}`);
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const killed = wait(5000).then(() => child.kill('SIGKILL'));
  await Promise.race([ended, killed]);
}

const dataFolder = mkdtempSync(join(tmpdir(), 'perch-bench-attacks-'));

/** Starts the server, with a large archive, and waits until its documentation is indexed. */
function startServer(): Promise<Target> {
  return startTarget({
    name: 'perch',
    args: [...fromSources, path('targets/attacked.mjs')],
    url: `http://127.0.0.1:${port}/svc/v1/health`,
    cores: 'any',
    env: {
      PORT: String(port),
      UPSTREAM_PORT: String(upstreamPort),
      PERCH_DATA_DIR: dataFolder,
      PERCH_FXTWITTER_URL: `http://127.0.0.1:${upstreamPort}/fx`,
      PERCH_SYNDICATION_URL: 'http://127.0.0.1:9',
      PERCH_BLUESKY_URL: 'http://127.0.0.1:9',
      PERCH_METRICS: 'open',
    },
  });
}

/** Reads each path once, because the first read of a kind loads modules, and starts the process that reads the archive. */
async function warmUp(): Promise<void> {
  for (const one of trivial) await (await fetch(`http://127.0.0.1:${port}${one}`)).arrayBuffer();
}

/** Measured effects of an attack on the normal clients and on the server. */
interface Result extends ClientResults {
  readonly name: string;
  readonly mostMiB: number;
  readonly isHurt: boolean;
}

async function attack(names: readonly AttackName[], use: Omit<NormalUse, 'port'>) {
  const server = await startServer();
  await warmUp();
  const attackers = names.map(runAttacker);
  const memory: number[] = [];
  const sampler = setInterval(() => memory.push(residentMiB(server.pid)), 250);
  await wait(1500); // until the attackers have loaded
  const met = await useNormally({ port, ...use });
  clearInterval(sampler);
  await Promise.all(attackers.map(stop));
  const stopped = await Promise.race([
    server.stop().then(() => true),
    wait(10_000).then(() => false),
  ]);
  return { met, memory, stopped };
}

function judge(
  name: string,
  { met, memory }: { met: ClientResults; memory: readonly number[] },
  maxMs = Number.POSITIVE_INFINITY,
): Result {
  const mostMiB = Math.max(...memory);
  const isHurt = met.slowestMs > maxMs || mostMiB > maxMiB || Object.keys(met.failures).length > 0;
  return { ...met, name, mostMiB, isHurt };
}

function row({ name, requests, slowestMs, p99Ms, mostMiB, failures, isHurt }: Result): string {
  const told = Object.entries(failures).map(([what, times]) => `${times} × ${what}`);
  const cells = [name, requests, slowestMs.toFixed(0), p99Ms.toFixed(1), mostMiB.toFixed(0)];
  return `| ${cells.join(' | ')} | ${told.slice(0, 4).join('; ')} | ${isHurt ? 'HURT' : 'well'} |`;
}

const header = [
  '| attack | requests | slowest ms | p99 ms | MiB at most | 429, 5xx and failures | normal client |',
  '| --- | --- | --- | --- | --- | --- | --- |',
];

/**
 * Measures the server without attacks, and then during each attack in turn. Returns `true` if the server failed the
 * test: a request of a normal client failed or was too slow, the server exceeded its memory limit, or the server did
 * not stop on SIGTERM.
 */
async function attackOneByOne(names: readonly AttackName[]): Promise<boolean> {
  const seconds = Number(process.env.BENCH_ATTACK_SECONDS ?? 20);
  console.log(header.join('\n'));
  let isHurt = false;
  for (const name of [null, ...names]) {
    const result = await attack(name === null ? [] : [name], { seconds, perSecond: 20 });
    const judged = judge(name ?? 'none', result, maxSlowestMs);
    console.log(row(judged));
    isHurt ||= judged.isHurt || !result.stopped;
    if (!result.stopped) console.log(`${name}: the server did not stop on SIGTERM`);
  }
  return isHurt;
}

/** Returns the number of normal requests that the server can answer per second. */
async function measureCapacity(server: Target): Promise<number> {
  let secondsForEach = 0;
  for (const path of trivial) {
    const url = `http://127.0.0.1:${port}${path}`;
    const load = { seconds: 2, connections: 16 };
    secondsForEach += 1 / (await measure({ ...server, url }, load)).requestsPerSecond;
  }
  return trivial.length / secondsForEach;
}

/**
 * Runs all attacks while normal clients use 10% of the server's capacity. Returns `true` if the server failed the
 * test: a request of a normal client failed, the server exceeded its memory limit, its memory kept growing, or the
 * server did not stop on SIGTERM.
 */
async function attackTogether(names: readonly AttackName[]): Promise<boolean> {
  const seconds = Number(process.env.BENCH_ATTACK_MINUTES ?? 10) * 60;
  const quiet = await startServer();
  const capacity = await measureCapacity(quiet);
  await quiet.stop();
  const perSecond = Math.floor(capacity / 10);
  console.log(
    `${Math.round(capacity)} requests/s without attacks, so normal use sends ${perSecond} requests/s\n`,
  );
  const use = { seconds, perSecond, clients: normalClients };
  const result = await attack(names, use);
  const judged = judge('all', result);
  console.log([...header, row(judged)].join('\n'));
  const half = result.memory.slice(Math.floor(result.memory.length / 2));
  const third = Math.floor(half.length / 3);
  const mean = (values: readonly number[]) =>
    values.reduce((sum, one) => sum + one, 0) / values.length;
  const growth = mean(half.slice(-third)) / mean(half.slice(0, third));
  console.log(`\nmemory at the end relative to the middle of the run: ${growth.toFixed(2)}`);
  console.log(`stops on SIGTERM: ${result.stopped}`);
  return judged.isHurt || growth > 1.1 || !result.stopped;
}

fillLargeArchive(join(dataFolder, 'archive.db'));
const upstream = run('attacks/upstream.ts', String(upstreamPort));
const given = process.argv.slice(2).filter((one) => one !== '--all');
const names = (given.length > 0 ? given : Object.keys(attacks)) as AttackName[];
try {
  const isHurt = process.argv.includes('--all')
    ? await attackTogether(names)
    : await attackOneByOne(names);
  process.exitCode = isHurt ? 1 : 0;
} finally {
  await stop(upstream);
  rmSync(dataFolder, { recursive: true, force: true });
}
