import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { fromSources, residentMiB } from './processes.ts';
import { checkOneTurn, createSessionClient } from './sessions/client.ts';
import { requestAt } from './soak/requests.ts';

// Runs a server for BENCH_SOAK_SECONDS (600) with 50 requests a second of all kinds, and a session every second, while
// its upstreams fail every 20 seconds, each time in another way. The exit code is 1 if a response has the status 500, a
// session is lost, the memory of the last third exceeds that of the middle third by more than 10%, or the log exceeds
// 1 MB.
//
//   npx tsx bench/soak.ts

const seconds = Number(process.env.BENCH_SOAK_SECONDS ?? 600);
const perSecond = 50;
const clients = 16;
const [port, upstreamPort] = [18_111, 18_112];
const base = `http://127.0.0.1:${port}`;
const maxLogBytes = 1_000_000;
const maxGrowth = 1.1;

const folder = mkdtempSync(join(tmpdir(), 'perch-bench-soak-'));
const logPath = join(folder, 'log');
const counts: Record<string, number> = {};
const faults: string[] = [];
const count = (what: string) => {
  counts[what] = (counts[what] ?? 0) + 1;
};

function run(script: string, args: readonly string[], stdout: number, env = {}): ChildProcess {
  const path = join(import.meta.dirname, script);
  return spawn(process.execPath, [...fromSources, path, ...args], {
    stdio: ['ignore', stdout, stdout],
    env: { PATH: process.env.PATH ?? '', ...env },
  });
}

async function untilReady(): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const reply = await fetch(`${base}/svc/v1/health`).catch(() => undefined);
    if (reply?.ok) return;
    await wait(100);
  }
  throw new Error('The server does not start.');
}

async function ask(pool: Pool, n: number): Promise<void> {
  const { path, method = 'GET', headers = {}, body } = requestAt(n);
  try {
    const reply = await pool.request({
      path,
      method: method as 'GET',
      headers: { ...headers, connection: 'keep-alive' },
      body: body ?? null,
    });
    await reply.body.arrayBuffer();
    count(String(reply.statusCode));
    if (reply.statusCode === 500) faults.push(`500 ${path}`);
  } catch (error) {
    count('connection failed');
    faults.push(`${error instanceof Error ? error.message : error} ${path}`);
  }
}

/** Starts a session, and checks that its answer and the answer to a second question arrive. */
async function converse(client: ReturnType<typeof createSessionClient>, n: number): Promise<void> {
  try {
    const session = await client.start(`How do I page through followers, in case ${n}?`);
    checkOneTurn(await client.read(session));
    count('session');
  } catch (error) {
    faults.push(`session: ${error instanceof Error ? error.message.slice(0, 200) : error}`);
  }
}

async function apply(pools: readonly Pool[]): Promise<void> {
  const sessions = createSessionClient({ url: `${base}/svc/v1/health` });
  const begun = performance.now();
  const open: Promise<void>[] = [];
  for (let n = 0; n < seconds * perSecond; n += 1) {
    open.push(ask(pools[n % pools.length] as Pool, n));
    if (n % perSecond === 0) open.push(converse(sessions, n));
    const due = begun + ((n + 1) * 1000) / perSecond - performance.now();
    if (due > 0) await wait(due);
  }
  await Promise.all(open);
  sessions.close();
}

const mean = (values: readonly number[]) =>
  values.reduce((sum, one) => sum + one, 0) / Math.max(1, values.length);

/** Prints the figures. Returns whether the server failed. */
function judge(memory: readonly number[]): boolean {
  const third = Math.floor(memory.length / 3);
  const growth = mean(memory.slice(-third)) / mean(memory.slice(third, 2 * third));
  const logBytes = statSync(logPath).size;
  const minutes = Array.from({ length: Math.ceil(memory.length / 60) }, (_, minute) =>
    mean(memory.slice(60 * minute, 60 * (minute + 1))).toFixed(0),
  );
  console.log(`MiB of each minute: ${minutes.join(' ')}`);
  console.log(`responses by status: ${JSON.stringify(counts)}`);
  console.log(
    `memory: ${Math.max(...memory).toFixed(0)} MiB at most; last third ${growth.toFixed(2)} times the middle`,
  );
  console.log(
    `log: ${(logBytes / 1000).toFixed(0)} kB, ${readFileSync(logPath, 'utf8').split('\n').length} lines`,
  );
  console.log(
    `faults: ${faults.length}${faults.length > 0 ? `\n  ${faults.slice(0, 20).join('\n  ')}` : ''}`,
  );
  return faults.length > 0 || growth > maxGrowth || logBytes > maxLogBytes;
}

const log = openSync(logPath, 'w');
const upstream = run('soak/upstream.ts', [String(upstreamPort)], log);
const server = run('targets/attacked.mjs', [], log, {
  PORT: String(port),
  UPSTREAM_PORT: String(upstreamPort),
  PERCH_DATA_DIR: join(folder, 'data'),
  PERCH_FXTWITTER_URL: `http://127.0.0.1:${upstreamPort}/fx`,
  PERCH_SYNDICATION_URL: 'http://127.0.0.1:9',
  PERCH_BLUESKY_URL: 'http://127.0.0.1:9',
  PERCH_METRICS: 'open',
});
const memory: number[] = [];
try {
  await untilReady();
  const pools = Array.from(
    { length: clients },
    (_, n) => new Pool(base, { connections: 16, localAddress: `127.0.3.${n + 1}` }),
  );
  const sampler = setInterval(() => memory.push(residentMiB(server.pid ?? 0)), 1000);
  await apply(pools);
  clearInterval(sampler);
  await Promise.all(pools.map((pool) => pool.close()));
  process.exitCode = judge(memory) ? 1 : 0;
} finally {
  for (const child of [server, upstream]) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill('SIGTERM')) await ended;
  }
  closeSync(log);
  if (process.exitCode !== 1) rmSync(folder, { recursive: true, force: true });
  else console.log(`the log is in ${logPath}`);
}
