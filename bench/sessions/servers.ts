import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromSources, startTarget, type Target } from '../processes.ts';

const root = join(import.meta.dirname, '../..');

/** Number of concurrent sessions. Other sizes of the benchmark are derived from this number. */
export const size = Number(process.env.BENCH_SESSIONS ?? 1000);

export const rounds = Number(process.env.BENCH_ROUNDS ?? 5);

const ports = { perch: 18_086, scripted: 18_087, bare: 18_088 } as const;

/** Server settings with raised limits, because all load comes from one address. */
const limits = {
  PERCH_SESSIONS: 'on',
  PERCH_CONNECTIONS: '20000',
  PERCH_CONNECTIONS_PER_ADDRESS: '20000',
  PERCH_SESSION_STARTS_PER_MINUTE: '1000000',
  PERCH_SESSION_START_BURST: '1000000',
  PERCH_SESSION_STREAMS_PER_SESSION: '1000',
  PERCH_SESSION_STREAMS: '10000',
  PERCH_SESSION_TURNS: '100000',
  PERCH_SESSION_QUEUE: '1000',
  PERCH_SESSION_TURNS_PER_MINUTE: '1000000',
  PERCH_SESSION_TURNS_PER_ADDRESS: '100000',
  PERCH_SESSION_WAITING_TURNS: '200000',
  PERCH_SESSION_LIVE: '200000',
  PERCH_SESSION_LIVE_PER_ADDRESS: '100000',
  PERCH_SESSION_BYTES: '10000000000',
  PERCH_SESSION_BYTES_PER_ADDRESS: '5000000000',
  PERCH_SESSION_BYTES_PER_SESSION: '5000000000',
  PERCH_SESSION_STREAMS_PER_ADDRESS: '5000',
};

export interface Serving {
  readonly folder: string;
  /** CPU cores of the server: `any` for all cores; `own`, the default, for a dedicated core. */
  readonly cores?: 'own' | 'any';
}

/** Starts the built server like `npm start`. The server answers questions from its own documentation. */
export function startPerch(serving: Serving): Promise<Target> {
  return startServer('perch', [join(root, 'dist/main.js'), 'serve'], serving);
}

/**
 * Starts a server with a fake answer engine. The message `40 pieces of 64` requests an answer of 40
 * pieces with at least 64 characters each.
 */
export function startScripted(serving: Serving): Promise<Target> {
  return startServer(
    'scripted',
    [...fromSources, join(root, 'bench/targets/perch-sessions.mjs')],
    serving,
  );
}

/** Starts a minimal Fastify server that streams the lines of a file, as a baseline. */
export function startBareStream(lines: string, serving: Serving): Promise<Target> {
  return startServer('bare', [join(root, 'bench/targets/bare-stream.mjs'), lines], serving);
}

function startServer(
  name: keyof typeof ports,
  args: readonly string[],
  { folder, cores = 'own' }: Serving,
): Promise<Target> {
  return startTarget({
    name,
    args,
    url: `http://127.0.0.1:${ports[name]}/svc/v1/health`,
    env: { ...limits, PORT: String(ports[name]), PERCH_DATA_DIR: join(folder, 'data') },
    cores,
  });
}

/** Calls `work` with an empty temporary folder, and removes the folder afterwards. */
export async function withFolder<Value>(work: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), 'perch-bench-sessions-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Calls `work`, and then stops the servers `targets`, even if `work` fails. */
export async function withTargets<Value>(
  targets: readonly Target[],
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } finally {
    await Promise.all(targets.map((target) => target.stop()));
  }
}
