import type { Socket } from 'node:net';
import type { Dispatcher, Pool } from 'undici';
import { HttpFailure, type Sender } from './http-client.ts';

/** How connections to many hosts are kept. */
export interface HostPoolOptions {
  /** Connects to a host by name. */
  readonly connect: (host: string) => Promise<Socket>;
  /** How many hosts connections are kept to; those that were asked longest ago are left first. */
  readonly maxHosts: number;
  /** The most that a host may take to begin its answer, and between two pieces of it, in milliseconds. */
  readonly timeoutMs: number;
}

/** Connections to one host. More requests than that wait for each other, within their deadlines. */
const connectionsPerHost = 16;

/**
 * Opens pools of connections, one for each origin. An undici `Agent` does the same, but has no bound
 * that one caller could not use up for all others: it refuses new origins when it is full.
 */
export async function openHostPools(options: HostPoolOptions): Promise<Sender> {
  const undici = await import('undici');
  const pools = new Map<string, Pool>();
  const leaving = new Set<Pool>();
  let isClosed = false;
  const take = (origin: string): Pool => {
    const pool = pools.get(origin) ?? new undici.Pool(origin, toPoolOptions(options));
    pools.delete(origin);
    makeRoom(pools, options.maxHosts, (old) => leave(old, leaving));
    pools.set(origin, pool);
    return pool;
  };
  return {
    request: async (request: Dispatcher.RequestOptions) => {
      if (isClosed) throw new HttpFailure('aborted', 'The client is closed.');
      return take(String(request.origin)).request(request);
    },
    destroy: async () => {
      isClosed = true;
      await Promise.all([...pools.values(), ...leaving].map((pool) => pool.destroy()));
    },
  };
}

function toPoolOptions({ connect, timeoutMs }: HostPoolOptions): Pool.Options {
  return {
    connections: connectionsPerHost,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: 10_000,
    // A host could ask for ten minutes otherwise.
    keepAliveMaxTimeout: 10_000,
    connect: ({ hostname }, callback) => {
      connect(hostname).then(
        (socket) => callback(null, socket),
        (error: unknown) => callback(error instanceof Error ? error : new Error('?'), null),
      );
    },
  };
}

/** Leaves the pool that was used longest ago, a resting one before one that is at work. */
function makeRoom(
  pools: Map<string, Pool>,
  maxHosts: number,
  leaveOne: (pool: Pool) => void,
): void {
  if (pools.size < maxHosts) return;
  const entries = [...pools];
  const isResting = ([, { stats }]: [string, Pool]) => stats.size === 0;
  const [origin, pool] = entries.find(isResting) ?? entries[0] ?? [];
  if (origin === undefined || pool === undefined) return;
  pools.delete(origin);
  leaveOne(pool);
}

/** Closes a pool when what it is at has ended. */
function leave(pool: Pool, leaving: Set<Pool>): void {
  leaving.add(pool);
  const forget = () => leaving.delete(pool);
  pool.close().then(forget, forget);
}
