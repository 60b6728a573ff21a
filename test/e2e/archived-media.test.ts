import { rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { clause } from '../support/clause.ts';
import {
  hashOf,
  toMp4,
  toPictureTweet,
  toPng,
  toXFiles,
  writeFiles,
} from '../support/exports/media-export.ts';
import { listen } from '../support/listen.ts';
import { runArchive } from '../support/run-here.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const heron = toPng('heron', 1000);
const large = Buffer.concat([toMp4('large'), Buffer.alloc(8 * 2 ** 20, 'perch')]);
const path = `/media/sha256/${hashOf(heron)}`;

interface ServerOptions {
  readonly isProtected?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

async function serve({ isProtected = false, env = {} }: ServerOptions = {}) {
  const data = temporaryFolder();
  const media = { 'tweets_media/20-heron.jpg': heron, 'tweets_media/20-large.jpg': large };
  const files = toXFiles([toPictureTweet(20, 'heron', 'large')], media, { isProtected });
  await runArchive(data, 'import', writeFiles(temporaryFolder(), files));
  const server = await listen({ PERCH_DATA_DIR: data, ...env });
  return { ...server, data };
}

async function get(url: string, headers: Record<string, string> = {}, method = 'GET') {
  const reply = await request(url, { method: method as 'GET', headers });
  const body = Buffer.from(await reply.body.arrayBuffer());
  return { status: reply.statusCode, headers: reply.headers, body };
}

describe('a file of the archive', () => {
  clause('read.media.copies_immutable_and_sandboxed')(
    'has a type, and runs no scripts',
    async () => {
      const { url } = await serve();

      const reply = await get(`${url}${path}`, { origin: 'https://other.example' });

      expect([reply.status, reply.body.equals(heron)]).toEqual([200, true]);
      expect(reply.headers).toMatchObject({
        'content-type': 'image/png',
        'content-length': String(heron.length),
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'",
        'cross-origin-resource-policy': 'cross-origin',
        'access-control-allow-origin': '*',
        'content-disposition': 'inline',
        'cache-control': 'public, max-age=31536000, immutable',
        'accept-ranges': 'bytes',
        etag: `"${hashOf(heron)}"`,
      });
    },
  );

  clause('read.media.copies_in_reads')('is the URL of the picture in a read', async () => {
    const { url } = await serve();

    const reply = await get(
      `${url}/api/v1/posts?url=https://x.com/Wren_Example/status/20&format=json`,
    );

    expect(reply.body.toString()).toContain(`"url":"http://localhost:8080${path}"`);
  });

  it('answers HEAD, a known ETag and other methods', async () => {
    const { url } = await serve();

    const head = await get(`${url}${path}`, {}, 'HEAD');
    const known = await get(`${url}${path}`, { 'if-none-match': `"${hashOf(heron)}"` });
    const post = await get(`${url}${path}`, {}, 'POST');

    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([
      200,
      String(heron.length),
      0,
    ]);
    expect([known.status, known.headers.etag, known.body.length]).toEqual([
      304,
      `"${hashOf(heron)}"`,
      0,
    ]);
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  clause('read.media.copies_in_parts')('can be read in parts', async () => {
    const { url } = await serve();

    const part = await get(`${url}${path}`, { range: 'bytes=8-12' });
    const stale = await get(`${url}${path}`, { range: 'bytes=8-12', 'if-range': '"other"' });
    const outside = await get(`${url}${path}`, { range: 'bytes=99999-' });

    expect([part.status, part.body.toString(), part.headers['content-range']]).toEqual([
      206,
      'heron',
      `bytes 8-12/${heron.length}`,
    ]);
    expect([stale.status, stale.body.length]).toEqual([200, heron.length]);
    expect([outside.status, outside.headers['content-range']]).toEqual([
      416,
      `bytes */${heron.length}`,
    ]);
    expect(JSON.parse(outside.body.toString())).toMatchObject({ code: 'range_not_satisfiable' });
  });

  it.each([
    ['an unknown hash', `/media/sha256/${'0'.repeat(64)}`],
    ['upper-case digits', `/media/sha256/${hashOf(heron).toUpperCase()}`],
    ['a short hash', `/media/sha256/${hashOf(heron).slice(0, 10)}`],
    ['a path', '/media/sha256/..%2f..%2farchive.db'],
  ])('is not found by %s', async (_, wrong) => {
    const { url } = await serve();

    const reply = await get(`${url}${wrong}`);

    expect(reply.status).toBe(404);
    expect(JSON.parse(reply.body.toString())).toMatchObject({ code: 'not_found' });
    expect(reply.headers['cache-control']).toBe('no-store');
  });

  clause('read.media.copies_protected_hidden')(
    'is not served for a protected account, nor without the archive',
    async () => {
      const hidden = await serve({ isProtected: true });
      const others = await serve({ env: { PERCH_PROVIDERS: 'syndication' } });

      expect((await get(`${hidden.url}${path}`)).status).toBe(404);
      expect((await get(`${others.url}${path}`)).status).toBe(404);
    },
  );

  it('is not served if it is missing or incomplete on disk', async () => {
    const { url, data } = await serve();
    const stored = `${data}/media/${hashOf(heron).slice(0, 2)}/${hashOf(heron)}`;

    writeFileSync(stored, heron.subarray(0, 20));
    expect((await get(`${url}${path}`)).status).toBe(404);
    rmSync(stored);
    expect((await get(`${url}${path}`)).status).toBe(404);
  });

  it('is closed when the client disconnects, and unread responses have a limit', async () => {
    const { url, app } = await serve({
      env: { PERCH_REPLY_BYTES_PER_ADDRESS: '1048576', PERCH_REPLY_BYTES: '1048576' },
    });
    const video = `${url}/media/sha256/${hashOf(large)}`;

    const agent = new Agent();
    onTestFinished(() => agent.destroy());

    // The last client must leave as much of the limit as it uses.
    const unread = await Promise.all(
      Array.from({ length: 8 }, () => request(video, { dispatcher: agent })),
    );
    const refused = await get(video);

    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.body.toString())).toMatchObject({ code: 'overloaded' });
    for (const reply of unread) reply.body.on('error', () => undefined).destroy();
    await expect.poll(async () => (await get(video)).status, { timeout: 10_000 }).toBe(200);
    const count = promisify(app.server.server.getConnections.bind(app.server.server));
    await expect.poll(count, { timeout: 10_000 }).toBeLessThanOrEqual(2);
  });
});
