import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';

/** Request count, failure counts and response times of the normal clients. */
export interface ClientResults {
  readonly requests: number;
  /** Number of failures by cause and path. Failures are connection errors and responses with status 429 or above. */
  readonly failures: Readonly<Record<string, number>>;
  /** Duration in milliseconds of the slowest request to a path in `trivial`, the list of quickly served paths. */
  readonly slowestMs: number;
  /** 99th percentile in milliseconds of the durations of requests to paths in `trivial`. */
  readonly p99Ms: number;
}

/** Request rate of the normal clients, and duration of the load. */
export interface NormalUse {
  readonly port: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** Number of clients. Each client has its own loopback address and eight connections. Default: 1. */
  readonly clients?: number;
}

/** Paths to which an idle server responds in a few milliseconds: cached posts, documents and sample data. */
export const trivial = [
  '/health/live',
  '/ada.example',
  '/api/v1/profiles/ada.example?format=json',
  '/ada.example/status/1900000000000000001',
  '/api/v1/search?q=heron&platform=archive',
  '/api',
  '/docs/start',
] as const;

/** Minimum number of requests to paths in `trivial` between two requests for X posts that are not cached. */
const leastBeforeMiss = 49;

/** Sends requests at a steady rate, without waiting for earlier responses, and measures the response times. */
export async function useNormally(use: NormalUse): Promise<ClientResults> {
  const { seconds, perSecond } = use;
  const pools = openPools(use);
  const times: number[] = [];
  const failures: Record<string, number> = {};
  const fail = (what: string) => {
    failures[what] = (failures[what] ?? 0) + 1;
  };
  const ask = async (pool: Pool, path: string, isTrivial: boolean): Promise<void> => {
    const begin = performance.now();
    try {
      const { statusCode, body } = await pool.request({ method: 'GET', path });
      const text = await body.text();
      if (statusCode >= 429)
        fail(`${statusCode} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''} ${path}`);
    } catch (error) {
      fail(`${error instanceof Error ? error.message : error} ${path}`);
    }
    if (isTrivial) times.push(performance.now() - begin);
  };
  const asked: Promise<void>[] = [];
  const begin = performance.now();
  const count = seconds * perSecond;
  const missEvery = Math.max(leastBeforeMiss, perSecond) + 1;
  for (let n = 0; n < count; n += 1) {
    const isMiss = n % missEvery === missEvery - 1;
    const path = isMiss
      ? `/mira_holm/status/${10_000_000 + n}`
      : (trivial[n % trivial.length] ?? '/api');
    asked.push(ask(pools[n % pools.length] as Pool, path, !isMiss));
    const due = begin + ((n + 1) * 1000) / perSecond;
    if (due > performance.now()) await wait(due - performance.now());
  }
  await Promise.all(asked);
  await Promise.all(pools.map((pool) => pool.close()));
  const sorted = times.toSorted((a, b) => a - b);
  return {
    requests: count,
    failures,
    slowestMs: sorted.at(-1) ?? 0,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
  };
}

function openPools({ port, clients = 1 }: NormalUse): readonly Pool[] {
  return Array.from({ length: clients }, (_, n) => {
    const localAddress = n === 0 ? '127.0.0.1' : `127.0.1.${n + 1}`;
    return new Pool(`http://127.0.0.1:${port}`, { connections: 8, localAddress });
  });
}
