import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBoundServer, createReplyQueues } from '../../src/routes/admission/admission.ts';
import { listen } from '../support/listen.ts';
import { openQuotas } from '../support/quotas.ts';

interface Connection {
  readonly socket: Socket;
  /** Everything received so far. */
  readonly received: () => string;
  /** Resolves when the server has closed the connection, or reset it. */
  readonly closed: Promise<void>;
}

/** Opens a connection that never closes its own side. */
function open(port: number, localAddress: string, text = ''): Promise<Connection> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    let received = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      received += chunk;
    });
    socket.on('error', () => undefined); // a reset is one of the ways to end
    const closed = new Promise<void>((done) => {
      socket.once('end', done).once('close', () => done());
    });
    socket.once('connect', () => {
      if (text !== '') socket.write(text);
      resolve({ socket, received: () => received, closed });
    });
  });
}

const health = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';

describe('connections', () => {
  it('are closed for good after a refusal, whatever the client does', async () => {
    const { app, port } = await listen({ PERCH_REQUEST_TIMEOUT_MS: '150' });
    const slow = await open(port, '127.0.0.2', 'GET / HTTP/1.1\r\nHost: x\r\nA: b');

    await expect.poll(() => slow.received()).toContain('"code":"request_timeout"');

    const count = () =>
      new Promise<number>((resolve) => {
        app.server.server.getConnections((_error, connections) => resolve(connections));
      });
    await expect.poll(count).toBe(0);
  });

  it('are bounded for each client address, and those of others are accepted', async () => {
    const { url, port } = await listen({ PERCH_CONNECTIONS_PER_ADDRESS: '5' });
    const flood = await Promise.all(Array.from({ length: 20 }, () => open(port, '127.0.0.2')));

    await expect.poll(() => flood.filter(({ received }) => received() !== '')).toHaveLength(15);
    const other = await fetch(`${url}/health/live`);

    expect(other.status).toBe(200);
    const refused = flood.find(({ received }) => received() !== '')?.received() ?? '';
    expect(refused).toContain('HTTP/1.1 503 Service Unavailable');
    expect(refused).toContain('"code":"overloaded"');
    expect(refused.toLowerCase()).toContain('retry-after: 1');
  });

  it('are accepted again when others of the same address have closed', async () => {
    const { port } = await listen({ PERCH_CONNECTIONS_PER_ADDRESS: '2' });
    const first = await Promise.all([open(port, '127.0.0.2'), open(port, '127.0.0.2')]);
    for (const { socket } of first) socket.destroy();

    await expect
      .poll(async () => {
        const next = await open(port, '127.0.0.2', health);
        await expect.poll(() => next.received()).not.toBe('');
        next.socket.destroy();
        return next.received();
      })
      .toContain('HTTP/1.1 200 OK');
  });

  it('may be reset while they are refused, which hurts nobody', async () => {
    const { port } = await listen({ PERCH_CONNECTIONS_PER_ADDRESS: '1' });
    await open(port, '127.0.0.2', health);
    const connectMethod = 'CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n';

    for (const [address, text] of [
      ['127.0.0.2', ''],
      ['127.0.0.3', connectMethod],
      ['127.0.0.4', 'no request\r\n\r\n'],
    ] as const) {
      const refused = await open(port, address, text);
      await expect.poll(() => refused.received()).not.toBe('');
      refused.socket.resetAndDestroy();
    }

    const other = await open(port, '127.0.0.5', health);
    await expect.poll(() => other.received()).toContain('HTTP/1.1 200 OK');
  });

  it('of a trusted proxy are not bounded by address', async () => {
    const { port } = await listen({
      PERCH_CONNECTIONS_PER_ADDRESS: '2',
      PERCH_TRUST_PROXY: '127.0.0.2',
    });

    const flood = await Promise.all(
      Array.from({ length: 10 }, () => open(port, '127.0.0.2', health)),
    );

    await expect
      .poll(() => flood.filter(({ received }) => received().startsWith('HTTP/1.1 200 OK')))
      .toHaveLength(10);
  });

  it('may send some requests ahead, and are cut when the replies would pile up', async () => {
    const { port } = await listen();
    const some = await open(port, '127.0.0.2', health.repeat(16));
    const many = await open(port, '127.0.0.2', health.repeat(500));

    await many.closed;
    await expect.poll(() => some.received().match(/HTTP\/1\.1 200 OK/g)).toHaveLength(16);
    some.socket.write(health.repeat(16));
    await expect.poll(() => some.received().match(/HTTP\/1\.1 200 OK/g)).toHaveLength(32);
    expect(many.received().match(/HTTP\/1\.1 200 OK/g)?.length ?? 0).toBeLessThan(500);
    expect(some.socket.readableEnded).toBe(false);
  });

  it('of a client that had several cut are closed and refused, and not those of others', async () => {
    const { port } = await listen();
    const quiet = await open(port, '127.0.0.2');
    for (let cut = 0; cut < 4; cut += 1) {
      await (await open(port, '127.0.0.2', health.repeat(500))).closed;
    }

    const next = await open(port, '127.0.0.2', health);
    const other = await open(port, '127.0.0.3', health);

    await quiet.closed;
    await expect.poll(() => next.received()).toContain('sent more than 16 requests ahead');
    expect(next.received()).toContain('"code":"overloaded"');
    await expect.poll(() => other.received()).toContain('HTTP/1.1 200 OK');
  });

  it('get no further request handled when they are cut', async () => {
    let handled = 0;
    const clientOf = () => ({ address: '127.0.0.2', network: null });
    const queues = createReplyQueues();
    const bounds = { quotas: openQuotas(), clientOf, refuse: () => undefined, queues };
    const count = () => {
      handled += 1; // replies pile up
    };
    const server = createBoundServer({}, count, bounds);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;

    const { closed } = await open(port, '127.0.0.2', health.repeat(500));
    await closed;

    expect(handled).toBe(16);
  });
});
