import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';

/** The replies that a normal client got. */
export interface Met {
  readonly requests: number;
  /** Replies with 429 or 5xx, and connections that failed, by what they were. */
  readonly failures: Readonly<Record<string, number>>;
  /** Milliseconds of its trivial requests. */
  readonly slowestMs: number;
  readonly p99Ms: number;
}

/** How a normal client asks. */
export interface NormalUse {
  readonly port: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** Number of clients, each with an address of its own and eight connections: 127.0.0.1, 127.0.1.2 and so on. */
  readonly clients?: number;
}

/** Requests that take a few milliseconds on a quiet server: hits, documents, the sample. */
export const trivial = [
  '/health/live',
  '/ada.example',
  '/api/v1/profiles/ada.example?format=json',
  '/ada.example/status/1900000000000000001',
  '/api/v1/search?q=heron&platform=archive',
  '/api',
  '/docs/start',
] as const;

/** Requests before a post of X that no cache has; more of them where there are so many that upstreams limit the rate. */
const leastBeforeMiss = 49;

/** Asks at a steady rate, as scripts of some clients do, and notes what comes back. */
export async function useNormally(use: NormalUse): Promise<Met> {
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
