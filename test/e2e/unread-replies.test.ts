import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../support/listen.ts';
import { toMessage } from '../support/mcp.ts';

/** Connects from an address of loopback, sends text and reads nothing. */
function sendAndStall(port: number, localAddress: string, text: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    onTestFinished(() => void socket.destroy());
    socket.pause();
    socket.once('error', reject);
    socket.once('connect', () => socket.write(text, () => resolve(socket)));
  });
}

/** A request for `/openapi.json` as a resource, whose result is about a third of a megabyte. */
const documentOf = (port: number) => ({
  method: 'resources/read',
  params: { uri: `http://localhost:${port}/openapi.json` },
});

/** A POST of ten messages in a batch, as bytes. */
function toBatch(port: number, message: ReturnType<typeof documentOf> | typeof search): string {
  const { headers } = toMessage('legacy', message);
  const one = { jsonrpc: '2.0', ...message };
  const body = JSON.stringify(Array.from({ length: 10 }, (_, id) => ({ ...one, id })));
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = Buffer.byteLength(body);
  return `POST /mcp HTTP/1.1\r\nhost: localhost:${port}\r\n${head.join('')}content-length: ${length}\r\n\r\n${body}`;
}

const search = {
  method: 'tools/call',
  params: { name: 'search', arguments: { q: 'heron', platform: 'archive', nocache: true } },
};

describe('replies that nobody reads', () => {
  it('are bounded for one client, and others are answered', async () => {
    const { url, port } = await listen({
      PERCH_METRICS: 'open',
      PERCH_REPLY_BYTES_PER_ADDRESS: '10485760',
    });
    // More than the buffers of the two sockets hold.
    const batch = toBatch(8080, documentOf(8080)).repeat(4);
    for (let n = 0; n < 12; n += 1) await sendAndStall(port, '127.0.0.2', batch);

    const refused = /^perch_holds_refused_total\{holding="reply_bytes"\} [1-9]/m;
    await expect.poll(async () => (await fetch(`${url}/metrics`)).text()).toMatch(refused);
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(
      /^perch_held\{holding="reply_bytes"\} (?:\d{1,7}|10\d{6})$/m,
    );
    const other = await fetch(`${url}/api/v1/profiles/ada.example`);

    expect(other.status).toBe(200);
  });

  it('are not made once their connection is closed', async () => {
    const { app, url, port } = await listen({ PERCH_METRICS: 'open' });
    const batches = toBatch(8080, search).repeat(8);

    const socket = await sendAndStall(port, '127.0.0.2', batches);
    socket.destroy();
    await expect.poll(() => app.inFlight).toBeGreaterThan(0);
    await expect.poll(() => app.inFlight).toBe(0);

    const metrics = await (await fetch(`${url}/metrics`)).text();
    const reads = /^perch_reads_total\{[^}]*kind="search",cache="bypass"\} (\d+)$/m.exec(metrics);
    expect(Number(reads?.[1] ?? 0)).toBeLessThan(20);
  });
});
