import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../support/listen.ts';
import { toMessage } from '../support/mcp.ts';
import { createStubProvider, stubFound, stubPost } from '../support/stub-provider.ts';

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

const toGet = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

async function readFigures(url: string) {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const figure = (name: string) =>
    Number(new RegExp(`^${name}\\{holding="reply_bytes"\\} (\\d+)$`, 'm').exec(metrics)?.[1]);
  return { held: figure('perch_held'), refused: figure('perch_holds_refused_total') };
}

const metrics = { PERCH_METRICS: 'open' };

describe('replies that nobody reads', () => {
  it.each([
    ['are not cached', '&nocache=true', {}],
    ['have left the cache', '', { PERCH_CACHE_BYTES: '65536' }],
  ])('are bounded for one client if they %s', async (_, option, env) => {
    const limit = 1_048_576;
    const text = 'x'.repeat(100_000);
    const provider = createStubProvider('stub', async ({ post }) =>
      // The other replies of the connection wait for this one.
      post.id === '100' ? new Promise<never>(() => {}) : stubFound(stubPost(post.id, { text })),
    );
    const settings = { ...metrics, PERCH_REPLY_BYTES_PER_ADDRESS: String(limit), ...env };
    const { url, port } = await listen(settings, { providers: [provider] });
    const ask = (_each: unknown, at: number) =>
      toGet(`/api/v1/posts?handle=wren&id=${100 + at}&format=json${option}`);

    const socket = await sendAndStall(port, '127.0.0.2', Array.from({ length: 14 }, ask).join(''));

    await expect.poll(async () => (await readFigures(url)).refused).toBeGreaterThan(0);
    const { held } = await readFigures(url);
    expect(held).toBeGreaterThan(text.length);
    expect(held).toBeLessThanOrEqual(limit);
    const other = await fetch(`${url}/api/v1/posts?handle=wren&id=900&format=json`);
    expect([other.status, (await other.text()).length > text.length]).toEqual([200, true]);
    socket.destroy();
    await expect.poll(async () => (await readFigures(url)).held).toBe(0);
  });

  it('count once if they share a body in the memory of the server', async () => {
    const { url, port } = await listen(metrics);
    const { length } = Buffer.from(await (await fetch(`${url}/llms-full.txt`)).arrayBuffer());

    for (const address of ['127.0.0.2', '127.0.0.2', '127.0.0.3']) {
      await sendAndStall(port, address, toGet('/llms-full.txt').repeat(15));
    }

    await expect.poll(() => readFigures(url)).toEqual({ held: length, refused: 0 });
  });

  it('count for another client when the first one has left', async () => {
    const { url, port } = await listen(metrics);
    const { length } = Buffer.from(await (await fetch(`${url}/llms-full.txt`)).arrayBuffer());
    const batch = toGet('/llms-full.txt').repeat(15);
    const first = await sendAndStall(port, '127.0.0.2', batch);
    await expect.poll(async () => (await readFigures(url)).held).toBe(length);
    const second = await sendAndStall(port, '127.0.0.3', batch);
    await expect.poll(() => second.bytesWritten).toBe(batch.length);

    first.destroy();
    await expect.poll(() => readFigures(url)).toEqual({ held: length, refused: 0 });
    second.destroy();

    await expect.poll(async () => (await readFigures(url)).held).toBe(0);
  });

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
    // Asked in each turn of the event loop, because the work takes only a few.
    while (app.inFlight === 0) await setImmediate();
    await expect.poll(() => app.inFlight).toBe(0);

    const metrics = await (await fetch(`${url}/metrics`)).text();
    const reads = /^perch_reads_total\{[^}]*kind="search",cache="bypass"\} (\d+)$/m.exec(metrics);
    expect(Number(reads?.[1] ?? 0)).toBeLessThan(20);
  });
});

it('request bodies that do not arrive are bounded for one client', async () => {
  const limits = { PERCH_REPLY_BYTES_PER_ADDRESS: '1048576' };
  const { url, port } = await listen({ ...metrics, ...limits });
  const send = (length: string, body: string) => {
    const head = `POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
    return sendAndStall(port, '127.0.0.2', `${head}${length}\r\n\r\n${body}`);
  };
  const sent = [await send('transfer-encoding: chunked', '1\r\n{\r\n')];
  while (sent.length <= 16) sent.push(await send('content-length: 60000', '{'));
  await expect.poll(() => readFigures(url)).toEqual({ held: 65_536 + 16 * 60_000, refused: 0 });

  const more = await send('content-length: 30000', '{');
  const [reply] = await once(more.resume(), 'data');

  expect(String(reply)).toMatch(/^HTTP\/1\.1 503 .*"overloaded"/s);
  for (const socket of sent) socket.destroy();
  await expect.poll(async () => (await readFigures(url)).held).toBe(0);
});
