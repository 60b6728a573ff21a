import { type Socket, connect as startConnecting } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { Sender } from '../../../../src/lib/http/http-client.ts';
import { openHostPools } from '../../../../src/lib/http/public-http-client.ts';
import { answerText, type FakeHandler, startFakeUpstream } from '../../../support/fake-upstream.ts';

interface Rig {
  readonly pools: Sender;
  /** Hosts with an open connection, oldest first. */
  open(): readonly string[];
  ask(host: string, path?: string): Promise<string>;
}

const sayHello: FakeHandler = (_, response) =>
  answerText(response, { type: 'text/plain', text: 'hello' });

async function openRig(maxHosts: number, handler: FakeHandler = sayHello): Promise<Rig> {
  const upstream = await startFakeUpstream(handler);
  const port = Number(new URL(upstream.url).port);
  const sockets: [string, Socket][] = [];
  const pools = await openHostPools({
    connect: async (host) => {
      const socket = startConnecting(port, '127.0.0.1');
      sockets.push([host, socket]);
      return socket;
    },
    maxHosts,
    timeoutMs: 30_000,
  });
  onTestFinished(async () => {
    await pools.destroy();
    await upstream.close();
  });
  return {
    pools,
    open: () => sockets.filter(([, socket]) => !socket.destroyed).map(([host]) => host),
    ask: async (host, path = '/') => {
      const origin = `https://${host}`;
      const { body } = await pools.request({ origin, path, method: 'GET' });
      return body.text();
    },
  };
}

it('keeps connections to the maximum number of hosts, and closes the least recently used', async () => {
  const { ask, open } = await openRig(2);

  for (const host of ['a', 'b', 'a', 'c']) expect(await ask(host)).toBe('hello');

  await expect.poll(() => [...new Set(open())].toSorted()).toEqual(['a', 'c']);
});

it('limits the number of connections if every host is new', async () => {
  const { ask, open } = await openRig(3);

  for (let nth = 0; nth < 40; nth += 1) await ask(`host-${nth}`);

  await expect.poll(open).toEqual(['host-37', 'host-38', 'host-39']);
});

it('lets a closed host finish its response', async () => {
  const waiting: (() => void)[] = [];
  const { ask, open } = await openRig(1, (request, response) => {
    const answer = () => sayHello(request, response);
    if (request.url === '/slow') waiting.push(answer);
    else answer();
  });

  const slow = ask('a', '/slow');
  await expect.poll(() => waiting).toHaveLength(1);
  expect(await ask('b')).toBe('hello');
  for (const answer of waiting) answer();

  expect(await slow).toBe('hello');
  await expect.poll(open).toEqual(['b']);
});

it('closes an idle host before a busy one', async () => {
  const waiting: (() => void)[] = [];
  const { ask, open } = await openRig(2, (request, response) => {
    const answer = () => sayHello(request, response);
    if (request.url === '/slow') waiting.push(answer);
    else answer();
  });

  const slow = ask('a', '/slow');
  await expect.poll(() => waiting).toHaveLength(1);
  await ask('b');
  await ask('c');

  await expect.poll(open).toEqual(['a', 'c']);
  for (const answer of waiting) answer();
  expect(await slow).toBe('hello');
});

it('closes connections and refuses requests after it is closed', async () => {
  const { pools, ask, open } = await openRig(2);
  await ask('a');

  await pools.destroy();

  await expect.poll(open).toEqual([]);
  await expect(ask('a')).rejects.toMatchObject({ kind: 'aborted' });
  expect(open()).toEqual([]);
});

it('aborts requests in flight when it is closed', async () => {
  const seen: string[] = [];
  const { pools, ask } = await openRig(2, ({ url = '' }) => void seen.push(url));
  const failing = expect(ask('a')).rejects.toThrow();
  await expect.poll(() => seen).toHaveLength(1);

  await pools.destroy();

  await failing;
});
