import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Connection, PublicHttpOptions } from '../../src/core/http/public-network.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from './fake-upstream.ts';

/** What a name resolves to: always the same, or what it is the n-th time (from 0) that it is asked. */
export type FakeName = readonly string[] | ((nth: number) => readonly string[]);

/** An internet of which every public address leads to one fake upstream, and every other to a trap. */
export interface FakeInternet extends PublicHttpOptions {
  /** What listens at the public addresses, on loopback and without TLS. */
  readonly site: FakeUpstream;
  readonly trap: Trap;
  /** The names that were looked up. */
  readonly lookedUp: readonly string[];
  /** The addresses that were asked to be connected to, each with its port. */
  readonly connectedTo: readonly string[];
}

/** Listeners that nothing may ever reach. */
export interface Trap {
  readonly port: number;
  /** How many connections there were. */
  readonly connections: number;
  /** How many of them are open still. */
  readonly open: number;
  /** How many bytes came over them. */
  readonly bytes: number;
}

/** The addresses of the site. */
export const siteAddresses = ['93.184.216.34', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'] as const;

/** Opens an internet with names, for one test. A name that is not among them does not exist. */
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

/** Connects to loopback, and says that it were `address`. */
export function connectTo(port: number, address: string): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(port, '127.0.0.1', () => resolve({ socket, address }));
    socket.once('error', reject);
  });
}

/** Opens listeners on loopback that count who comes, on the same port of both families. */
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
    socket.on('error', () => {}); // whoever falls into it may leave as they like
    socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}');
  };
  const v4 = await listenOn(createServer(count), '127.0.0.1', 0);
  if (v4 === null) throw new Error('There is no loopback to listen on.');
  await listenOn(createServer(count), '::1', v4); // a machine may have no IPv6
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

/** Listens, until the test has finished, and gives the port; null where the machine cannot. */
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
