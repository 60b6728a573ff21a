import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSamplePictures } from '../../src/archive/sample.ts';
import { openArchiveStore } from '../../src/archive/store/store.ts';
import { buildTestApp, type TestApp } from '../support/build-app.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const hashes = [...readSamplePictures().keys()];
const [anyHash = ''] = hashes;
const heron = '/api/v1/posts?handle=ada.example&id=1900000000000000001';
const pathPattern = /^http:\/\/localhost:8080(\/media\/sha256\/[0-9a-f]{64})$/;

async function readPaths(app: TestApp) {
  const [post] = (await app.request(`${heron}&format=json`)).json().posts;
  const urls: readonly string[] = [post.author.avatar_url, post.media.photos[0].url];
  return urls.map((url) => pathPattern.exec(url)?.[1]);
}

async function statusesOf(app: TestApp) {
  const replies = await Promise.all(hashes.map((hash) => app.request(`/media/sha256/${hash}`)));
  return new Set(replies.map((reply) => reply.statusCode));
}

describe('a picture of the sample', () => {
  it('is served by a server with default settings', async () => {
    const app = await buildTestApp();
    const paths = await readPaths(app);

    for (const path of paths) {
      const reply = await app.request(path ?? '');

      expect(reply.statusCode).toBe(200);
      expect(reply.headers).toMatchObject({
        'content-type': 'image/webp',
        'content-length': String(reply.rawPayload.length),
        'cache-control': 'public, max-age=31536000, immutable',
        'content-security-policy': "sandbox; default-src 'none'",
      });
      const hash = createHash('sha256').update(reply.rawPayload).digest('hex');
      expect(path).toBe(`/media/sha256/${hash}`);
    }
  });

  it.each(['off', 'proxy'])('is served with PERCH_MEDIA=%s', async (media) => {
    const app = await buildTestApp({ env: { PERCH_MEDIA: media } });

    expect(await statusesOf(app)).toEqual(new Set([200]));
  });

  it('is not copied to the data directory', async () => {
    const folder = temporaryFolder();
    const app = await buildTestApp({ env: { PERCH_DATA_DIR: folder } });

    expect(await statusesOf(app)).toEqual(new Set([200]));
    expect(existsSync(`${folder}/media`)).toBe(false);
  });

  it('replaces the address that an older version of the sample stored', async () => {
    const folder = temporaryFolder();
    const first = await buildTestApp({ env: { PERCH_DATA_DIR: folder } });
    const paths = await readPaths(first);
    await first.server.close();
    const store = openArchiveStore(`${folder}/archive.db`, 'http://localhost:8080');
    const stored = store.findAccount({ platform: 'sample', handle: 'ada.example' })?.account();
    if (stored === undefined) throw new Error('The account is missing.');
    const avatar_url = 'https://pictures.example/avatars/ada.jpg';
    store.putAccount({ account: { ...stored, avatar_url }, stored: 0 });
    store.writeFact('sample_version', '6');
    store.close();

    const app = await buildTestApp({ env: { PERCH_DATA_DIR: folder } });

    expect(await readPaths(app)).toEqual(paths);
    const profile = (await app.request('/ada.example?format=json')).json();
    expect(profile.profile.avatar_url).toMatch(pathPattern);
  });

  it.each([{ PERCH_SAMPLE: 'false' }, { PERCH_PROVIDERS: 'bluesky' }])(
    'is missing without the sample: %j',
    async (env) => {
      const app = await buildTestApp({ env });

      const reply = await app.request(`/media/sha256/${anyHash}`);

      expect([reply.statusCode, reply.json().code]).toEqual([404, 'not_found']);
    },
  );

  it('is shown by web pages, unless the post is sensitive', async () => {
    const app = await buildTestApp();
    const [, photo] = await readPaths(app);
    const snake = '/ploy.example/status/1783239913161471763?format=html';

    const shown = await app.request(`${heron}&format=html`);
    const hidden = await app.request(snake);

    expect(shown.body).toContain(`src="http://localhost:8080${photo}"`);
    expect(hidden.body).toContain('href="http://localhost:8080/media/sha256/');
    expect(hidden.body).not.toContain('<img class="media"');
  });

  it('has its media type in feeds', async () => {
    const app = await buildTestApp();
    const [, photo] = await readPaths(app);

    const feed = (await app.request(`${heron}&format=jsonfeed`)).json();

    expect(feed.items[0].attachments).toMatchObject([
      { url: `http://localhost:8080${photo}`, mime_type: 'image/webp' },
    ]);
  });
});
