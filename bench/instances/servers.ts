import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fxProfile, fxStatus, fxUser } from '../../test/support/x-payloads.ts';
import { fromSources, isInstalled, startTarget, type Target } from '../processes.ts';

/** Local server that is stopped after the benchmark. */
export interface Served {
  readonly port: number;
  readonly url: string;
  stop(): void;
}

const enginePort = 18_110;

/** Starts a Valkey or Redis server without persistence. */
export async function startEngine(): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'perch-bench-engine-'));
  const program = isInstalled('valkey-server') ? 'valkey-server' : 'redis-server';
  const args = ['--port', `${enginePort}`, '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const child = spawn(program, args, { stdio: 'ignore' });
  while (child.exitCode === null && !(await isListening(enginePort))) await sleep(10);
  if (child.exitCode !== null) throw new Error(`${program} does not start at port ${enginePort}.`);
  const stop = (): void => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  return { port: enginePort, url: `redis://127.0.0.1:${enginePort}`, stop };
}

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (isOpen: boolean) => () => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', end(true)).once('error', end(false));
  });
}

/** Returns a page with twenty posts of usual length by an account. */
function toPage(handle: string) {
  const author = fxUser(handle);
  const results = Array.from({ length: 20 }, (_, at) =>
    fxStatus(`${1e6 - at}`, {
      author,
      text: `Post ${at}: ${'some words about the sea '.repeat(6)}`,
    }),
  );
  return { code: 200, results, cursor: { top: null, bottom: null } };
}

/** Starts a fake FxTwitter server, where every account exists and has twenty posts. */
export async function startUpstream(): Promise<Served> {
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const [, handle = 'x'] = /\/profile\/(\w+)/.exec(path) ?? [];
    const body = path.endsWith('/statuses') ? toPage(handle) : fxProfile(fxUser(handle));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port, url: `http://127.0.0.1:${port}`, stop };
}

/** Settings of a Perch server for benchmarks. No rate limit is reached, and cache entries stay fresh. */
export const unlimited = {
  PERCH_DATA_DIR: ':memory:',
  PERCH_SESSIONS: 'off',
  PERCH_CACHE_TTL_SECONDS: '360000',
  PERCH_PUBLIC_ALLOWANCE: '1000000',
  PERCH_KEY_ALLOWANCE: '1000000',
  PERCH_POOL_ALLOWANCE: '1000000',
  PERCH_FXTWITTER_PER_MINUTE: '100000',
  PERCH_MAX_EVENT_LOOP_DELAY_MS: '0',
} as const;

const firstPort = 18_111;

export interface ServerOptions {
  /** Number of the instance. Its port is `firstPort` plus this number. */
  readonly index: number;
  readonly path: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Starts Perch in its own process. No rate limit is reached, and cache entries stay fresh. */
export function startPerch({ index, path, env, headers }: ServerOptions): Promise<Target> {
  const port = String(firstPort + index);
  return startTarget({
    name: 'perch',
    args: [...fromSources, join(import.meta.dirname, '../targets/perch.mjs'), 'on'],
    url: `http://127.0.0.1:${port}${path}`,
    env: { ...unlimited, ...env, PORT: port },
    ...(headers !== undefined && { headers }),
  });
}
