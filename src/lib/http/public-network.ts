import { Resolver } from 'node:dns/promises';
import type { Socket } from 'node:net';
import { connect as startTls } from 'node:tls';
import { withDeadline } from '../scheduling/deadline.ts';
import { HttpFailure } from './http-client.ts';
import { isPublicAddress } from './ip-address.ts';

/** IP address, port, and the host name that the certificate must have. */
export interface ConnectionTarget {
  readonly address: string;
  readonly port: number;
  readonly host: string;
  readonly signal: AbortSignal;
}

/** Open connection. `address`: remote address; `undefined` after a disconnection. */
export interface Connection {
  readonly socket: Socket;
  readonly address: string | undefined;
}

/** DNS lookup and TLS for caller-supplied hosts: `publicNetwork`, or a substitute in tests. */
export interface PublicHttpOptions {
  /** Returns addresses in the order to try. Throws Error if there are none, or after an abort. */
  readonly resolve: (host: string, signal: AbortSignal) => Promise<readonly string[]>;
  readonly connect: (target: ConnectionTarget) => Promise<Connection>;
}

/** Default implementation of `PublicHttpOptions`. Looks up names by DNS and connects by TLS. */
export const publicNetwork: PublicHttpOptions = {
  resolve: createResolve(() => new Resolver({ timeout: 500, tries: 2 })),
  connect: connectByTls,
};

export type NameResolver = Pick<Resolver, 'resolve4' | 'resolve6' | 'cancel'>;

/** Creates a cancellable lookup. `dns.lookup` could block the threads that Node uses for files. */
export function createResolve(openResolver: () => NameResolver): PublicHttpOptions['resolve'] {
  return async (host, signal) => {
    signal.throwIfAborted();
    const resolver = openResolver();
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return merge(await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]));
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

function merge([v4, v6]: readonly [LookupResult, LookupResult]): readonly string[] {
  if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
  const [first4, ...rest4] = v4.status === 'fulfilled' ? v4.value : [];
  const [first6, ...rest6] = v6.status === 'fulfilled' ? v6.value : [];
  return [first4, first6, ...rest4, ...rest6].filter((address) => address !== undefined);
}

type LookupResult = PromiseSettledResult<readonly string[]>;

/** Connects by TLS. Verifies the certificate even with NODE_TLS_REJECT_UNAUTHORIZED=0. */
export function connectByTls(target: ConnectionTarget): Promise<Connection> {
  const { address: host, port, host: servername, signal } = target;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const secure = { ALPNProtocols: ['http/1.1'], rejectUnauthorized: true };
    const socket = startTls({ host, port, servername, ...secure });
    const stop = () => {
      const { reason } = signal;
      socket.destroy(reason instanceof Error ? reason : new Error('The connection was cancelled.'));
    };
    signal.addEventListener('abort', stop, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', stop));
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      signal.removeEventListener('abort', stop);
      socket.off('error', reject);
      resolve({ socket: socket.setNoDelay(true), address: socket.remoteAddress });
    });
  });
}

interface ConnectOptions {
  readonly network: PublicHttpOptions;
  /** Maximum time in milliseconds for the DNS lookup and the connection together. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const maxAddresses = 3;

/** Connects if all addresses of a single lookup are public, which prevents DNS rebinding. */
export function connectPublicly(host: string, options: ConnectOptions): Promise<Socket> {
  const { timeoutMs, signal } = options;
  return withDeadline(timeoutMs, [signal], (deadline) =>
    connectToFirst(host, { ...options, signal: deadline }),
  );
}

async function connectToFirst(host: string, { network, timeoutMs, signal }: ConnectOptions) {
  const addresses = await findAddresses(host, network, signal);
  const shareMs = Math.ceil(timeoutMs / addresses.length);
  let fault: unknown;
  for (const address of addresses) {
    try {
      const connection = await withDeadline(shareMs, [signal], (share) =>
        network.connect({ address, port: 443, host, signal: share }),
      );
      return requirePublic(connection);
    } catch (error) {
      if (error instanceof HttpFailure) throw error;
      if (signal.aborted) throw new HttpFailure('timeout', 'The connection timed out.', error);
      fault = error;
    }
  }
  throw fault;
}

/** Returns up to three addresses. Throws HttpFailure if there are none or one is not public. */
async function findAddresses(host: string, { resolve }: PublicHttpOptions, signal: AbortSignal) {
  const addresses = await resolve(host, signal).catch((error: unknown) => {
    throw new HttpFailure('refused', 'The host name has no address.', error);
  });
  if (addresses.length === 0 || !addresses.every(isPublicAddress)) {
    throw new HttpFailure('refused', 'The host has an address that is not public.');
  }
  return addresses.slice(0, maxAddresses);
}

/** Returns the socket if its address is public; otherwise closes it and throws HttpFailure. */
function requirePublic({ socket, address }: Connection): Socket {
  if (address !== undefined && isPublicAddress(address)) return socket;
  socket.destroy();
  throw new HttpFailure('refused', 'The connection leads to an address that is not public.');
}
