import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import { listEndpoints } from '../../src/server/endpoints.ts';
import { asAdmin } from '../support/build-app.ts';
import { buildSessionRig, type SessionRig } from '../support/session-rig.ts';

const own = 'http://localhost:8080';
const foreign = ['https://evil.example', 'null', 'http://localhost.evil.example'];

/** What is closed to pages of other origins, a request for each. */
const closed: readonly (readonly [method: string, url: string])[] = [
  ['GET', '/'],
  ['GET', '/?q=ada.example'],
  ['GET', '/docs'],
  ['GET', '/docs/keys'],
  ['GET', '/docs/keys.md'],
  ['GET', '/docs/find?q=key'],
  ['GET', '/docs/ask'],
  ['GET', '/docs/ask?q=what+is+a+key'],
  ['GET', '/docs/no-such-page'],
  ['POST', '/docs/ask'],
  ['GET', '/metrics'],
  ['GET', '/api/admin/keys'],
  ['POST', '/api/admin/keys'],
  ['GET', '/admin'],
  ['POST', '/mcp'],
  ['GET', '/svc/v1/health'],
  ['POST', '/svc/v1/session'],
  ['GET', '/svc/v1/nothing'],
];

/** What pages of any origin may read. */
const open = [
  '/api',
  '/openapi.json',
  '/llms.txt',
  '/llms-full.txt',
  '/robots.txt',
  '/.well-known/ard.json',
  '/health/live',
  '/ada.example',
  '/api/v1/search?q=heron&platform=sample',
  '/api/v1/posts?handle=ada.example&id=1900000000000000001',
  '/oembed?url=http://localhost:8080/ada.example/status/1900000000000000001',
  '/no/such/route',
];

const corsOf = ({ headers }: LightMyRequestResponse) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

const ask = ({ app }: SessionRig, method: string, url: string, headers: Record<string, string>) =>
  app.server.inject({ method: method as 'GET', url, headers: { ...asAdmin, ...headers } });

describe('a page of another origin', () => {
  it.each(foreign)('is rejected by pages, sessions, admin and /mcp: %s', async (origin) => {
    const rig = await buildSessionRig();

    for (const [method, url] of closed) {
      const preflight = { origin, 'access-control-request-method': method };
      for (const reply of [
        await ask(rig, method, url, { origin }),
        await ask(rig, 'OPTIONS', url, preflight),
      ]) {
        const told = [method, url, reply.statusCode, reply.json().code, corsOf(reply)];
        expect(told).toEqual([method, url, 403, 'origin_not_allowed', []]);
      }
    }
  });

  it('can read all other routes', async () => {
    const rig = await buildSessionRig();

    for (const url of open) {
      const { headers } = await ask(rig, 'GET', url, { origin: 'https://evil.example' });
      expect([url, headers['access-control-allow-origin']]).toEqual([url, '*']);
    }
  });

  it('finds each described endpoint either open or closed', async () => {
    const rig = await buildSessionRig();
    const isOpen = {
      discovery: true,
      permalink: true,
      media: true,
      health: true,
      v1: true,
      pages: false,
      mcp: false,
      operator: false,
    };
    const endpoints = listEndpoints('svc');

    for (const { method, path, tag } of endpoints) {
      if (/^\/(?:docs\/assets\/|favicon)/.test(path)) continue; // files that every page may show
      const url = path.replaceAll(/\{\w+\}/g, 'x');
      const reply = await ask(rig, method, url, { origin: 'https://evil.example' });
      const expected = { ...isOpen, sessions: false }[tag] ? '*' : undefined;
      expect([path, reply.headers['access-control-allow-origin']]).toEqual([path, expected]);
      expect([path, reply.statusCode === 403]).toEqual([path, expected === undefined]);
    }
    expect(endpoints.length).toBeGreaterThan(20);
  });

  it('cannot start a session with a form', async () => {
    const rig = await buildSessionRig();
    const payload = '{"message":"a"}';

    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const reply = await rig.app.server.inject({
        method: 'POST',
        url: '/svc/v1/session',
        headers: { 'content-type': type },
        payload,
      });
      expect([type, reply.statusCode]).toEqual([type, 415]);
    }
  });
});

describe('a page of this server or of this machine', () => {
  it.each([own, 'http://localhost:5173', 'http://127.0.0.1:8080'])(
    'gets the same replies as a program: %s',
    async (origin) => {
      const rig = await buildSessionRig();

      for (const [method, url] of closed) {
        const reply = await ask(rig, method, url, { origin });
        const plain = await ask(rig, method, url, {});
        expect([method, url, reply.statusCode]).toEqual([method, url, plain.statusCode]);
        // The protocol of MCP has clients in pages; its list of origins says which.
        expect(corsOf(reply).length > 0).toBe(url === '/mcp');
      }
    },
  );

  // As Chrome sends it where somebody submits the form, and where a script does the same.
  it('can ask questions, with and without JavaScript', async () => {
    const rig = await buildSessionRig();
    const browser = { 'sec-fetch-site': 'same-origin', 'sec-fetch-user': '?1' };
    const accept = 'text/html,application/xhtml+xml';

    const form = await ask(rig, 'GET', '/docs/ask?q=what+is+a+key', {
      ...browser,
      accept,
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
      referer: `${own}/docs/ask`,
    });
    const script = await rig.app.server.inject({
      method: 'POST',
      url: '/svc/v1/session',
      headers: {
        origin: own,
        'sec-fetch-site': 'same-origin',
        'sec-fetch-mode': 'cors',
        'sec-fetch-dest': 'empty',
        'content-type': 'application/json',
      },
      payload: '{"message":"what is a key"}',
    });

    expect([form.statusCode, script.statusCode]).toEqual([200, 202]);
    expect(form.body).toContain('what is a key');
  });
});

describe('a page of another site', () => {
  const fromElsewhere = { 'sec-fetch-site': 'cross-site' };

  it('can link to the pages', async () => {
    const rig = await buildSessionRig();
    const link = { ...fromElsewhere, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

    for (const url of ['/', '/docs', '/docs/keys', '/docs/ask?q=what+is+a+key']) {
      const reply = await ask(rig, 'GET', url, { ...link, accept: 'text/html' });
      expect([url, reply.statusCode]).toEqual([url, 200]);
    }
  });

  it.each(['image', 'iframe', 'empty'])('cannot send questions: %s', async (dest) => {
    const rig = await buildSessionRig();

    const reply = await ask(rig, 'GET', '/docs/ask?q=what+is+a+key', {
      ...fromElsewhere,
      'sec-fetch-dest': dest,
    });

    expect([reply.statusCode, reply.json().code]).toEqual([403, 'origin_not_allowed']);
  });
});

describe('a server that listens on loopback', () => {
  const everything = [...closed, ...open.map((url) => ['GET', url] as const)];

  it.each(['evil.example', 'evil.example:8080', 'perch.internal', '192.168.1.5'])(
    'rejects the host name %s',
    async (host) => {
      const rig = await buildSessionRig();

      for (const [method, url] of everything) {
        const reply = await ask(rig, method, url, { host });
        const told = [method, url, reply.statusCode, reply.json().code];
        expect(told).toEqual([method, url, 403, 'origin_not_allowed']);
      }
    },
  );

  it.each(['localhost', 'localhost:9', '127.0.0.1:8080', '[::1]:8080', 'perch.example.org'])(
    'accepts the host name %s',
    async (host) => {
      const rig = await buildSessionRig({ env: { PERCH_BASE_URL: 'https://perch.example.org' } });

      for (const [method, url] of everything) {
        const reply = await ask(rig, method, url, { host });
        expect([method, url, reply.statusCode]).not.toEqual([method, url, 403]);
      }
    },
  );

  it('accepts any host name if it listens on other addresses', async () => {
    const rig = await buildSessionRig({ env: { HOST: '0.0.0.0' } });

    const reply = await ask(rig, 'GET', '/api', { host: 'evil.example' });

    expect(reply.statusCode).toBe(200);
  });
});
