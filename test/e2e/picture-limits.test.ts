import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { clause } from '../support/clause.ts';
import { buildPictureRig, pictureHost, png } from '../support/picture-rig.ts';
import { signPicture } from '../support/signed-picture.ts';

const tenGigabytes = 10_000_000_000;

const path = (name: string) => signPicture(`https://${pictureHost}/${name}.png`);

/** Sends bytes until the client disconnects. Returns the number of sent bytes. */
function flood(response: ServerResponse): Promise<number> {
  const chunk = Buffer.alloc(65_536);
  let sent = 0;
  const send = () => {
    while (!response.destroyed && response.write(chunk)) sent += chunk.length;
  };
  response.on('drain', send);
  response.write(png);
  send();
  return new Promise((resolve) => response.once('close', () => resolve(sent)));
}

describe('10 GB from a host', () => {
  clause('read.pictures.size_limit')('cost nothing if the host announces the size', async () => {
    const closed: Promise<number>[] = [];
    const rig = await buildPictureRig({
      onPicture: (_, response) => {
        response.writeHead(200, { 'content-length': tenGigabytes });
        closed.push(flood(response));
      },
    });

    const reply = await rig.app.request(path('large'));

    expect([reply.statusCode, reply.json().code]).toEqual([502, 'upstream_error']);
    expect(await closed[0]).toBeLessThan(8_000_000); // what fits into the buffers of the sockets
  });

  clause('read.pictures.size_limit')(
    'cost no more than the limit if the host sends without end',
    async () => {
      const closed: Promise<number>[] = [];
      const rig = await buildPictureRig({
        env: { PERCH_MEDIA_MAX_BYTES: '1000000' },
        onPicture: (_, response) => {
          response.writeHead(200);
          closed.push(flood(response));
        },
      });

      const reply = await rig.app.request(path('endless'));

      expect(reply.json()).toMatchObject({
        code: 'upstream_error',
        detail: 'The picture exceeds the size limit of this server.',
      });
      expect(await closed[0]).toBeLessThan(9_000_000);
    },
  );

  it('cost a few bytes of traffic if they are not a picture', async () => {
    const closed: Promise<number>[] = [];
    const rig = await buildPictureRig({
      onPicture: (_, response) => {
        response.writeHead(200).write('<html>'.repeat(100));
        closed.push(flood(response));
      },
    });

    const reply = await rig.app.request(path('page'));

    expect(reply.json().code).toBe('upstream_error');
    expect(await closed[0]).toBeLessThan(8_000_000);
  });

  it('are not read if the response is an error', async () => {
    const closed: Promise<number>[] = [];
    const rig = await buildPictureRig({
      onPicture: (_, response) => {
        response.writeHead(500);
        closed.push(flood(response));
      },
    });

    const reply = await rig.app.request(path('failing'));

    expect(reply.json().code).toBe('upstream_unavailable');
    expect(await closed[0]).toBeLessThan(9_000_000);
  });
});

describe('a client with too many bytes', () => {
  it('does not fail the requests of others that wait for the same picture', async () => {
    const size = 200_000;
    const held: ServerResponse[] = [];
    const hold = (response: ServerResponse) => held.push(response);
    const filling = Buffer.concat([png, Buffer.alloc(size - png.length)]);
    const rig = await buildPictureRig({
      env: { PERCH_MEDIA_MAX_BYTES: String(size) },
      onPicture: ({ url = '' }, response) => {
        response.writeHead(200);
        if (url.startsWith('/endless')) response.write(filling);
        else if (url === '/shared.png' && held.length === 0) hold(response);
        else response.end(png);
      },
    });
    const ask = (name: string, remoteAddress: string) =>
      rig.app.request(path(name), { remoteAddress });
    const endless = ['endless-1', 'endless-2', 'endless-3'].map((name) => ask(name, '192.0.2.1'));
    let probe = 0;
    const isFull = async () => {
      probe += 1;
      return (await ask(`probe-${probe}`, '192.0.2.1')).statusCode;
    };
    await expect.poll(isFull, { timeout: 5000 }).toBe(503);

    const first = ask('shared', '192.0.2.1');
    await expect.poll(() => held.length).toBe(1);
    const second = ask('shared', '192.0.2.2');
    await new Promise((resolve) => setTimeout(resolve, 200)); // the second request joins the first
    held[0]?.end(png);

    expect((await first).json().code).toBe('overloaded');
    expect((await second).statusCode).toBe(200);
    rig.app.cutOff();
    await Promise.all(endless);
  });
});

describe('a host that does not answer', () => {
  it('ends the request after the timeout of a read', async () => {
    const rig = await buildPictureRig({
      env: { PERCH_READ_TIMEOUT_MS: '300' },
      onPicture: (_, response) => void response.writeHead(200).write(png.subarray(0, 20)),
    });

    const reply = await rig.app.request(path('slow'));

    expect([reply.statusCode, reply.json().code]).toEqual([503, 'upstream_unavailable']);
  });

  it('keeps no more than its part of the requests, and other hosts answer', async () => {
    const waiting: ServerResponse[] = [];
    const rig = await buildPictureRig({
      names: { 'slow.example.org': ['93.184.216.34'] },
      onPicture: ({ headers }, response) => {
        if (headers.host === 'slow.example.org') waiting.push(response);
        else response.writeHead(200).end(png);
      },
    });
    const ask = (name: string, remoteAddress: string) =>
      rig.app.request(signPicture(`https://slow.example.org/${name}`), { remoteAddress });
    const slow = Array.from({ length: 134 }, (_, at) => ask(`${at}`, '192.0.2.1'));

    const refused = await Promise.all(slow.slice(128));
    const other = await rig.app.request(path('other'), { remoteAddress: '192.0.2.2' });

    expect(refused.map((reply) => reply.json().code)).toEqual(Array(6).fill('overloaded'));
    expect(other.statusCode).toBe(200);
    rig.app.cutOff();
    const ended = await Promise.all(slow.slice(0, 128));
    expect(new Set(ended.map((reply) => reply.json().code))).toEqual(new Set(['shutting_down']));
  });
});
