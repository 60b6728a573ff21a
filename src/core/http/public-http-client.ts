import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { Dispatcher, Pool } from 'undici';
import {
  type HttpClient,
  type HttpClientOptions,
  HttpFailure,
  openClientOver,
  type Sender,
} from './http-client.ts';
import { isPublicUrl } from './public-host.ts';
import { connectPublicly, type PublicHttpOptions, publicNetwork } from './public-network.ts';

/** Maximum number of hosts whose connections are kept open. */
const maxHosts = 64;

/** Connections to one host. Further requests wait, within their deadlines. */
const connectionsPerHost = 16;

/** Maximum bytes of a body: anybody can run such a host, and a page of posts has a fifth of this. */
const maxBodyBytes = 1_048_576;

/**
 * Opens an HTTP client for hosts that callers name: `https` on port 443, a public name, only public addresses, checked
 * for each connection and redirect. Any other request fails with `refused` before a connection is made. A body may
 * have 1 MiB, or `options.maxBytes` if that is less.
 */
export function openPublicHttpClient(
  options: HttpClientOptions,
  network: PublicHttpOptions = publicNetwork,
): HttpClient {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // each connection that is being made listens
  const { signal } = closing;
  const timeoutMs = options.connectTimeoutMs;
  const openPools = () =>
    openHostPools({
      connect: (host) => connectPublicly(host, { network, timeoutMs, signal }),
      maxHosts,
      timeoutMs: options.attemptTimeoutMs,
    });
  const client = openClientOver(openPools, {
    ...options,
    maxBytes: Math.min(options.maxBytes, maxBodyBytes),
    isAllowed: isPublicUrl,
  });
  return {
    get: client.get,
    close: () => {
      closing.abort();
      return client.close();
    },
  };
}

interface HostPoolOptions {
  readonly connect: (host: string) => Promise<Socket>;
  /** Maximum number of hosts that connections are kept to; the least recently used are left first. */
  readonly maxHosts: number;
  /** Maximum time until an answer begins, and between two pieces of it. */
  readonly timeoutMs: number;
}

/** Opens pools of connections, one for each origin. undici's `Agent` refuses new origins when it is full. */
export async function openHostPools(options: HostPoolOptions): Promise<Sender> {
  const undici = await import('undici');
  const pools = new Map<string, Pool>();
  const leaving = new Set<Pool>();
  let isClosed = false;
  const leave = (origin: string, pool: Pool) => {
    pools.delete(origin);
    leaving.add(pool);
    const forget = () => leaving.delete(pool);
    pool.close().then(forget, forget); // what is under way ends first
  };
  /** Leaves the pool that was used longest ago, a resting one before one that is at work. */
  const makeRoom = () => {
    if (pools.size < options.maxHosts) return;
    const [oldest] = pools;
    const left = [...pools].find(([, { stats }]) => stats.size === 0) ?? oldest;
    if (left !== undefined) leave(...left);
  };
  const take = (origin: string): Pool => {
    const pool = pools.get(origin) ?? new undici.Pool(origin, toPoolOptions(options));
    pools.delete(origin);
    makeRoom();
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
