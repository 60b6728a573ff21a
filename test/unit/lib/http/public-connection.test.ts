import { getEventListeners, once } from 'node:events';
import { expect, it, vi } from 'vitest';
import type {
  ConnectionTarget,
  PublicHttpOptions,
} from '../../../../src/lib/http/public-network.ts';
import { connectPublicly } from '../../../../src/lib/http/public-network.ts';
import { connectTo, openTrap } from '../../../support/fake-internet.ts';

const host = 'social.example.com';
const signal = new AbortController().signal;
const options = { timeoutMs: 30_000, signal };

const [first, second, third, fourth] = ['93.184.216.34', '1.1.1.1', '2606:4700::1111', '8.8.8.8'];

function openNetwork(
  connect: PublicHttpOptions['connect'],
  addresses: readonly string[] = [first],
): PublicHttpOptions {
  return { resolve: async () => addresses, connect };
}

const untilAborted = ({ signal: given }: ConnectionTarget) =>
  once(given, 'abort').then(() => Promise.reject(given.reason));

it('connects to port 443 of the checked address, with the name of the host', async () => {
  const trap = await openTrap();
  const connect = vi.fn(({ address }: ConnectionTarget) => connectTo(trap.port, address));

  const socket = await connectPublicly(host, { ...options, network: openNetwork(connect) });
  socket.destroy();

  expect(connect.mock.calls).toEqual([
    [expect.objectContaining({ address: first, port: 443, host })],
  ]);
});

it('leaves no listeners on the signal that cancels all connections', async () => {
  const trap = await openTrap();
  const network = openNetwork(({ address }) => connectTo(trap.port, address));
  const { signal: longLived } = new AbortController();

  const socket = await connectPublicly(host, { timeoutMs: 30_000, signal: longLived, network });
  socket.destroy();

  expect(getEventListeners(longLived, 'abort')).toEqual([]);
  expect(derivedFrom(longLived)).toBe(0);
});

/** Returns the number of signals that Node derived from another one, a private property. */
function derivedFrom(source: AbortSignal): number {
  const members: Readonly<Record<symbol, { readonly size: number }>> = source as never;
  const symbols = Object.getOwnPropertySymbols(source);
  const symbol = symbols.find(({ description }) => description === 'kDependantSignals');
  return symbol === undefined ? 0 : (members[symbol]?.size ?? 0);
}

it('tries up to three addresses in order', async () => {
  const tried: string[] = [];
  const fault = Object.assign(new Error('connect'), { code: 'EHOSTUNREACH' });
  const network = openNetwork(
    async ({ address }) => {
      tried.push(address);
      throw fault;
    },
    [first, second, third, fourth],
  );

  await expect(connectPublicly(host, { ...options, network })).rejects.toBe(fault);

  expect(tried).toEqual([first, second, third]);
});

it('reaches the second address if the first one does not answer', async () => {
  const trap = await openTrap();
  const network = openNetwork(
    (target) =>
      target.address === first ? untilAborted(target) : connectTo(trap.port, target.address),
    [first, second],
  );

  const socket = await connectPublicly(host, { ...options, timeoutMs: 3000, network });
  socket.destroy();

  expect(trap.connections).toBe(1);
});

it.each(['127.0.0.1', '::ffff:127.0.0.1', '10.0.0.1', 'fe80::1', undefined])(
  'sends nothing over a connection whose remote address is %s',
  async (actual) => {
    const trap = await openTrap();
    const network = openNetwork(async () => {
      const { socket } = await connectTo(trap.port, first);
      return { socket, address: actual };
    });

    const connecting = connectPublicly(host, { ...options, network });

    await expect(connecting).rejects.toMatchObject({ kind: 'refused' });
    await expect.poll(() => trap.open).toBe(0);
    expect(trap.bytes).toBe(0);
  },
);

it('has one deadline for the lookup and the connection together', async () => {
  const slowName: PublicHttpOptions = {
    resolve: (_, given) => once(given, 'abort').then(() => Promise.reject(given.reason)),
    connect: () => Promise.reject(new Error('There is nothing to connect to.')),
  };
  const slowHost = openNetwork(untilAborted);

  const nameless = connectPublicly(host, { signal, timeoutMs: 1, network: slowName });
  await expect(nameless).rejects.toMatchObject({ kind: 'refused' });
  const silent = connectPublicly(host, { signal, timeoutMs: 1, network: slowHost });
  await expect(silent).rejects.toMatchObject({ kind: 'timeout' });
});

it('reports a name that does not exist like a name that is not public', async () => {
  const unknown: PublicHttpOptions = {
    resolve: () => Promise.reject(Object.assign(new Error('?'), { code: 'ENOTFOUND' })),
    connect: () => Promise.reject(new Error('There is nothing to connect to.')),
  };
  const inner = openNetwork(untilAborted, ['10.0.0.1']);

  for (const network of [unknown, inner]) {
    const failing = connectPublicly(host, { ...options, network });
    await expect(failing).rejects.toMatchObject({ name: 'HttpFailure', kind: 'refused' });
  }
});
