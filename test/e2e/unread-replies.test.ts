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

/** A request for `/openapi.json` as a resource, whose result is about half a megabyte, ten times in a batch. */
function toBatch(port: number): string {
  const params = { uri: `http://localhost:${port}/openapi.json` };
  const { headers } = toMessage('legacy', { method: 'resources/read', params });
  const one = { jsonrpc: '2.0', method: 'resources/read', params };
  const body = JSON.stringify(Array.from({ length: 10 }, (_, id) => ({ ...one, id })));
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = Buffer.byteLength(body);
  return `POST /mcp HTTP/1.1\r\nhost: localhost:${port}\r\n${head.join('')}content-length: ${length}\r\n\r\n${body}`;
}

describe('replies that nobody reads', () => {
  it('are bounded for one client, and others are answered', async () => {
    const { url, port } = await listen({
      PERCH_METRICS: 'open',
      PERCH_REPLY_BYTES_PER_ADDRESS: '10485760',
    });
    const batch = toBatch(8080);
    for (let n = 0; n < 12; n += 1) await sendAndStall(port, '127.0.0.2', batch);

    const refused = /^perch_holds_refused_total\{holding="reply_bytes"\} [1-9]/m;
    await expect.poll(async () => (await fetch(`${url}/metrics`)).text()).toMatch(refused);
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(
      /^perch_held\{holding="reply_bytes"\} (?:\d{1,7}|10\d{6})$/m,
    );
    const other = await fetch(`${url}/api/v1/profiles/ada.example`);

    expect(other.status).toBe(200);
  });
});
