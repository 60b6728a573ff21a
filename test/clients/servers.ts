import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { startBalancer } from '../support/balancer.ts';

/** Server with sessions, and the function that stops it. */
export interface SessionServer {
  readonly base: string;
  stop(): Promise<void>;
}

/** Options to start a server. */
export interface ServerStart {
  /** Node.js binary for Perch. The clients require a newer version. */
  readonly node: string;
  readonly args: readonly string[];
  /** Folder in which the data directory is created. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Timeout in milliseconds until a new server is ready. It reads the docs first. */
const readyMs = 120_000;

/** URL of an engine on which each server runs as two instances behind a load balancer; absent for one process. */
const engineUrl = process.env.PERCH_TEST_ENGINE_URL;

let started = 0;

/** Starts a server, as one process or as two instances, and waits until its sessions are ready. */
export async function startServer(start: ServerStart): Promise<SessionServer> {
  if (engineUrl === undefined) return startProcess(start);
  started += 1;
  const shared = { PERCH_REDIS_URL: engineUrl, PERCH_REDIS_PREFIX: `clients-${started}:` };
  const env = { ...shared, ...start.env };
  const servers = await Promise.all([1, 2].map(() => startProcess({ ...start, env })));
  const balancer = await startBalancer(servers.map(({ base }) => base));
  return {
    base: balancer.base,
    stop: async () => {
      balancer.close();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** Starts a server on a free port and waits until its sessions are ready. */
async function startProcess({ node, args, folder, env }: ServerStart): Promise<SessionServer> {
  const child = spawn(node, args, {
    env: {
      PATH: process.env.PATH ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
      PERCH_PROVIDERS: 'archive',
      PERCH_SESSIONS: 'on',
      PERCH_DATA_DIR: mkdtempSync(join(folder, 'data-')),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const base = await readAddress(child);
  await untilReady(`${base}/${env.PERCH_SESSION_PREFIX ?? 'svc'}/v1/health`);
  return {
    base,
    stop: async () => {
      process.off('exit', kill);
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Returns the printed URL. Reads the output to the end, because a full pipe would block the server. */
function readAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', () => reject(new Error(`The server exited: ${text}`)));
  });
}

async function untilReady(health: string): Promise<void> {
  for (const end = Date.now() + readyMs; Date.now() < end; ) {
    if ((await fetch(health)).ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${health} is not ready after ${readyMs} ms.`);
}
