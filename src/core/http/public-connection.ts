import type { Socket } from 'node:net';
import { withDeadline } from '../scheduling/deadline.ts';
import { HttpFailure } from './http-client.ts';
import { isPublicAddress } from './public-address.ts';
import type { Connection, PublicHttpOptions } from './public-network.ts';

interface Connecting {
  readonly network: PublicHttpOptions;
  /** Maximum time for looking the name up and connecting together. */
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
