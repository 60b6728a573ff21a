import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createAssets } from '../../src/routes/pages/assets.ts';
import { buildTestApp, shareTestApp } from '../support/build-app.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const app = shareTestApp();
const silent = pino({ level: 'silent' });
const assets = createAssets('assets', silent);
const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

describe('/favicon.ico', () => {
  it('is the logo of the pages as SVG, which caches may store', async () => {
    const reply = await app.request('/favicon.ico');

    expect(reply.statusCode).toBe(200);
    expect(reply.body).toBe(readFileSync('assets/favicon.svg', 'utf8'));
    expect(reply.headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'cache-control': 'public, max-age=60',
    });
  });

  it('answers 304 to its entity tag, HEAD without a body, and other methods with 405', async () => {
    const app = await buildTestApp();

    const head = await app.request('/favicon.ico', { method: 'HEAD' });
    const headers = { 'if-none-match': `${head.headers.etag}` };
    const known = await app.request('/favicon.ico', { headers });
    const post = await app.request('/favicon.ico', { method: 'POST' });

    expect([head.statusCode, head.body]).toEqual([200, '']);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(100);
    expect(known.statusCode).toBe(304);
    expect([post.statusCode, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});

describe('an asset', () => {
  it.each(readdirSync('assets'))(
    '%s is served under the hash of its content, and cached forever',
    async (name) => {
      const reply = await app.request(assets.pathOf(name));

      expect(reply.statusCode).toBe(200);
      expect(reply.body).toBe(readFileSync(join('assets', name), 'utf8'));
      expect(reply.headers).toMatchObject({
        'content-type': types[name.split('.').at(-1) ?? ''],
        'cache-control': 'public, max-age=31536000, immutable',
      });
    },
  );

  it.each(['site.css', 'site.0123456789.css'])(
    'is cached for a minute under %s, a name of another release',
    async (name) => {
      const reply = await app.request(`/docs/assets/${name}`);

      expect(reply.statusCode).toBe(200);
      expect(reply.headers['cache-control']).toBe('public, max-age=60');
    },
  );

  it('answers 304 to its entity tag, and HEAD without a body', async () => {
    const url = assets.pathOf('site.css');
    const { headers } = await app.request(url, { method: 'HEAD' });

    const reply = await app.request(url, { headers: { 'if-none-match': `${headers.etag}` } });

    expect(reply.statusCode).toBe(304);
    expect(reply.body).toBe('');
  });

  it.each([
    'nothing.css',
    '..%2Fpackage.json',
    '%2e%2e%2f%2e%2e%2fpackage.json',
    'site.css%00',
    'SITE.css',
    '.css',
    'site.0123456789.js.css',
    '__proto__',
    'a/b.css',
  ])('is not found at %s', async (name) => {
    const reply = await app.request(`/docs/assets/${name}`);

    expect(reply.statusCode).toBe(404);
    expect(reply.json().code).toBe('route_not_found');
  });

  it('supports only GET and HEAD', async () => {
    const reply = await app.request(assets.pathOf('site.css'), { method: 'DELETE' });

    expect(reply.statusCode).toBe(405);
    expect(reply.headers.allow).toBe('GET, HEAD');
  });
});

it('a missing folder of assets is logged once, and pages link to the files without a hash', () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(line) });
  const none = createAssets(join(temporaryFolder(), 'none'), logger);

  const paths = [none.pathOf('site.css'), none.pathOf('site.js')];

  expect(paths).toEqual(['/docs/assets/site.css', '/docs/assets/site.js']);
  expect(none.find('site.css')).toBeUndefined();
  expect(lines).toHaveLength(1);
});
