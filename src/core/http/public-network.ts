import { Resolver } from 'node:dns/promises';
import type { Socket } from 'node:net';
import { connect as startTls } from 'node:tls';
import { withDeadline } from '../scheduling/deadline.ts';
import { HttpFailure } from './http-client.ts';
import { isPublicAddress } from './ip-address.ts';

/** The end of a connection: an IP address and a port, and the name that the certificate must have. */
export interface ConnectionTarget {
  readonly address: string;
  readonly port: number;
  readonly host: string;
  readonly signal: AbortSignal;
}

/** A connection, with the IP address that it leads to by the operating system, unless it broke. */
export interface Connection {
  readonly socket: Socket;
  readonly address: string | undefined;
}

/** How hosts that callers have named are reached. Only tests have another way than `publicNetwork`. */
export interface PublicHttpOptions {
  /** Returns the IP addresses of a name, the best first. Throws if there are none, or the signal is aborted. */
  readonly resolve: (host: string, signal: AbortSignal) => Promise<readonly string[]>;
  readonly connect: (target: ConnectionTarget) => Promise<Connection>;
}

/** DNS and TLS. It cannot be configured. */
export const publicNetwork: PublicHttpOptions = {
  resolve: createResolve(() => new Resolver({ timeout: 500, tries: 2 })),
  connect: connectByTls,
};

export type NameResolver = Pick<Resolver, 'resolve4' | 'resolve6' | 'cancel'>;

/**
 * Creates a look-up of addresses in DNS. The system's own cannot be cancelled, reads the hosts file, and shares four
 * threads with files, so that a few names with dead name servers would block them.
 */
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

/** One of each family leads, because a machine may have no way to one of them. */
function merge([v4, v6]: readonly [Looked, Looked]): readonly string[] {
  if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason;
  const [first4, ...rest4] = v4.status === 'fulfilled' ? v4.value : [];
  const [first6, ...rest6] = v6.status === 'fulfilled' ? v6.value : [];
  return [first4, first6, ...rest4, ...rest6].filter((address) => address !== undefined);
}

type Looked = PromiseSettledResult<readonly string[]>;

/** Connects to an address and checks that the certificate is the host's, whatever the environment says. */
export function connectByTls(target: ConnectionTarget): Promise<Connection> {
  const { address: host, port, host: servername, signal } = target;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const secure = { ALPNProtocols: ['http/1.1'], rejectUnauthorized: true };
    const socket = startTls({ host, port, servername, ...secure });
    const stop = () => {
      const { reason } = signal;
      socket.destroy(reason instanceof Error ? reason : new Error('The connection was given up.'));
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

interface Connecting {
  readonly network: PublicHttpOptions;
  /** For looking the name up and connecting together. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Maximum number of addresses of a name that are tried. */
const maxAddresses = 3;

/**
 * Connects to a host by name, if all of its addresses are public. They are looked up once for each connection, so that
 * no later answer of its name server counts. Throws HttpFailure, or the Error of the operating system or of TLS.
 */
export function connectPublicly(host: string, connecting: Connecting): Promise<Socket> {
  const { timeoutMs, signal } = connecting;
  return withDeadline(timeoutMs, [signal], (deadline) =>
    connectToOne(host, { ...connecting, signal: deadline }),
  );
}

async function connectToOne(host: string, { network, timeoutMs, signal }: Connecting) {
  const addresses = await findAddresses(host, network, signal);
  const shareMs = Math.ceil(timeoutMs / addresses.length);
  let fault: unknown;
  for (const address of addresses) {
    try {
      const connection = await withDeadline(shareMs, [signal], (share) =>
        network.connect({ address, port: 443, host, signal: share }),
      );
      return ifPublic(connection);
    } catch (error) {
      if (error instanceof HttpFailure) throw error;
      if (signal.aborted) throw new HttpFailure('timeout', 'No connection in time.', error);
      fault = error;
    }
  }
  throw fault;
}

/** One address that is not public spoils the rest: a site has no use for it, an attack has. */
async function findAddresses(host: string, { resolve }: PublicHttpOptions, signal: AbortSignal) {
  const addresses = await resolve(host, signal).catch((error: unknown) => {
    throw new HttpFailure('refused', 'The name of the host has no address.', error);
  });
  if (addresses.length === 0 || !addresses.every(isPublicAddress)) {
    throw new HttpFailure('refused', 'The host has an address that is not public.');
  }
  return addresses.slice(0, maxAddresses);
}

/** Judges where a connection leads to, whatever was asked for. */
function ifPublic({ socket, address }: Connection): Socket {
  if (address !== undefined && isPublicAddress(address)) return socket;
  socket.destroy();
  throw new HttpFailure('refused', 'The connection leads to an address that is not public.');
}
