import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { Dispatcher, Pool } from 'undici';
import {
  type HttpClient,
  type HttpClientOptions,
  HttpFailure,
  openClientOver,
  type ResponseReader,
  type Sender,
  textReader,
} from './http-client.ts';
import { isPublicUrl } from './public-host.ts';
import { connectPublicly, type PublicHttpOptions, publicNetwork } from './public-network.ts';

const maxHosts = 64;

const connectionsPerHost = 16; // further requests wait within their deadlines

/** Maximum size of a response in bytes. Typical responses are five times smaller. */
const maxBodyBytes = 1_048_576;

/**
 * Opens an HTTP client for caller-supplied hosts. Requests and redirects need `https` on port 443,
 * a public name and only public addresses; others fail with HttpFailure `refused`. A response body
 * may have up to 1 MiB, or `options.maxBytes` if that is less.
 */
export function openPublicHttpClient(
  options: HttpClientOptions,
  network: PublicHttpOptions = publicNetwork,
): HttpClient {
  const maxBytes = Math.min(options.maxBytes, maxBodyBytes);
  return openPublicClient({ ...options, maxBytes }, network, textReader);
}

/** Opens a client like `openPublicHttpClient` for `reader`, limited only by `options.maxBytes`. */
export function openPublicClient<Answer>(
  options: HttpClientOptions,
  network: PublicHttpOptions,
  reader: ResponseReader<Answer>,
): HttpClient<Answer> {
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // every pending connection adds a listener
  const { signal } = closing;
  const timeoutMs = options.connectTimeoutMs;
  const openPools = () =>
    openHostPools({
      connect: (host) => connectPublicly(host, { network, timeoutMs, signal }),
      maxHosts,
      timeoutMs: options.attemptTimeoutMs,
    });
  const client = openClientOver(openPools, { ...options, isAllowed: isPublicUrl, reader });
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
  /** Maximum number of hosts with open connections; a further host replaces one of them. */
  readonly maxHosts: number;
  /** Milliseconds to wait for the start of a response, and then for each chunk of the body. */
  readonly timeoutMs: number;
}

/** Opens a pool per origin, closing one at `maxHosts`, where undici's `Agent` would refuse. */
export async function openHostPools(options: HostPoolOptions): Promise<Sender> {
  const { default: undici } = await import('undici');
  const pools = new Map<string, Pool>();
  const leaving = new Set<Pool>();
  let isClosed = false;
  const leave = (origin: string, pool: Pool) => {
    pools.delete(origin);
    leaving.add(pool);
    const forget = () => leaving.delete(pool);
    pool.close().then(forget, forget); // requests in flight finish first
  };
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
    // Without this limit, a host could set a keep-alive time of up to ten minutes.
    keepAliveMaxTimeout: 10_000,
    connect: ({ hostname }, callback) => {
      connect(hostname).then(
        (socket) => callback(null, socket),
        (error: unknown) => callback(error instanceof Error ? error : new Error('?'), null),
      );
    },
  };
}
