import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Connection, PublicHttpOptions } from '../../src/lib/http/public-network.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from './fake-upstream.ts';

/** Addresses of a name: fixed, or by the number of the lookup, starting at 0. */
export type FakeName = readonly string[] | ((nth: number) => readonly string[]);

/** Network in which all public addresses connect to one fake upstream, and all other addresses to a trap. */
export interface FakeInternet extends PublicHttpOptions {
  /** Upstream behind the public addresses, on loopback and without TLS. */
  readonly site: FakeUpstream;
  readonly trap: Trap;
  /** Looked-up names. */
  readonly lookedUp: readonly string[];
  /** Requested connections, as address and port. */
  readonly connectedTo: readonly string[];
}

/** Listeners that must never get a connection. */
export interface Trap {
  readonly port: number;
  /** Number of connections so far. */
  readonly connections: number;
  /** Number of open connections. */
  readonly open: number;
  /** Number of received bytes. */
  readonly bytes: number;
}

/** Addresses of the fake site. */
export const siteAddresses = ['93.184.216.34', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'] as const;

/** Opens a network with the given names for one test. Other names do not exist. */
export async function openFakeInternet(
  names: Readonly<Record<string, FakeName>>,
  handler: FakeHandler,
): Promise<FakeInternet> {
  const site = await startFakeUpstream(handler);
  onTestFinished(() => site.close());
  const trap = await openTrap();
  const lookedUp: string[] = [];
  const connectedTo: string[] = [];
  return {
    site,
    trap,
    lookedUp,
    connectedTo,
    resolve: async (host) => {
      const name = Object.hasOwn(names, host) ? names[host] : undefined;
      const nth = lookedUp.filter((known) => known === host).length;
      lookedUp.push(host);
      if (name === undefined) throw Object.assign(new Error(host), { code: 'ENOTFOUND' });
      return typeof name === 'function' ? name(nth) : name;
    },
    connect: ({ address, port }) => {
      connectedTo.push(`${address} ${port}`);
      const isSite = (siteAddresses as readonly string[]).includes(address) && port === 443;
      return connectTo(isSite ? Number(new URL(site.url).port) : trap.port, address);
    },
  };
}

/** Connects to loopback, and reports `address` as the remote address. */
export function connectTo(port: number, address: string): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(port, '127.0.0.1', () => resolve({ socket, address }));
    socket.once('error', reject);
  });
}

/** Opens listeners on loopback that count connections, on the same port for IPv4 and IPv6. */
export async function openTrap(): Promise<Trap> {
  const seen = { connections: 0, closed: 0, bytes: 0 };
  const count = (socket: Socket) => {
    seen.connections += 1;
    socket.on('data', (chunk) => {
      seen.bytes += chunk.length;
    });
    socket.on('close', () => {
      seen.closed += 1;
    });
    socket.on('error', () => {}); // clients may close the connection in any way
    socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}');
  };
  const v4 = await listenOn(createServer(count), '127.0.0.1', 0);
  if (v4 === null) throw new Error('There is no loopback to listen on.');
  await listenOn(createServer(count), '::1', v4); // the machine may lack IPv6
  return {
    port: v4,
    get connections() {
      return seen.connections;
    },
    get open() {
      return seen.connections - seen.closed;
    },
    get bytes() {
      return seen.bytes;
    },
  };
}

/** Listens until the end of the test and returns the port; `null` if the address is not available. */
function listenOn(server: Server, host: string, port: number): Promise<number | null> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen(port, host, () => {
      onTestFinished(() => new Promise((closed) => void server.close(() => closed())));
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : null);
    });
  });
}
