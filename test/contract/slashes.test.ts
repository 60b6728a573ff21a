import { describe, expect, it } from 'vitest';
import { listRouterPaths, routes } from '../../src/routes/reads/routes.ts';
import { adminEndpoints, listEndpoints } from '../../src/server/endpoints.ts';
import { adminToken, asAdmin, buildTestApp, shareTestApp } from '../support/build-app.ts';
import { signIn } from '../support/dashboard.ts';
import { buildSessionRig } from '../support/session-rig.ts';

const sharedApp = shareTestApp();

const sampleOnly = { PERCH_PROVIDERS: 'archive' };

/** Values of the parameters in paths. */
const given: Readonly<Record<string, string>> = {
  handle: 'ada.example',
  id: '1900000000000000001',
  n: '1',
  tag: 'heron',
  page: 'keys',
  address: 'localhost:8080/ada.example/status/1900000000000000001',
};

const fill = (path: string) =>
  path
    .replaceAll(/:(\w+)(?:\([^)]*\))?|\{(\w+)\}/g, (_, name, other) => given[name ?? other] ?? 'x')
    .replace(/\*$/, 'x');

const url = encodeURIComponent('http://localhost:8080/ada.example/status/1900000000000000001');
const query = `?url=${url}&q=heron&resource=profile&handle=ada.example&handles=jack&platform=archive`;

const described = [...listEndpoints('svc'), ...adminEndpoints].map(({ path }) => path);
const paths = new Set([
  ...routes.flatMap((row) => listRouterPaths(row).map((path) => path.url)),
  ...described,
  ...['/admin', '/admin/keys', '/admin/sign-in', '/favicon.ico', '/no/such/route'],
]);

/** Other ways to write a path. A whole URL in it keeps its own slashes. */
const spell = (path: string): readonly string[] => [
  ...[`/${path}`, `//${path}`],
  ...(path.includes(':/') ? [] : [`${path}/`, `//${path}//`, path.replaceAll('/', '//')]),
];

const compared = [
  ...['content-type', 'cache-control', 'etag', 'vary', 'allow', 'location', 'link', 'deprecation'],
  ...['sunset', 'access-control-allow-origin', 'www-authenticate', 'x-result-count'],
];

describe('slashes in a path', () => {
  it('do not change the reply, for any route', async () => {
    const app = await buildTestApp({ env: { ...sampleOnly, PERCH_SESSIONS: 'on' } });
    const ask = async (method: 'GET' | 'POST', path: string) => {
      const headers = /^\/+(?:api\/+admin|metrics)/.test(path) ? asAdmin : {};
      const reply = await app.server.inject({ method, headers, url: `${path}${query}` });
      const body = path.includes('metrics') ? '' : reply.body; // they count the requests
      return [reply.statusCode, body, compared.map((name) => reply.headers[name])];
    };

    for (const path of [...paths].map(fill)) {
      for (const method of ['GET', 'POST'] as const) {
        await ask(method, path); // fills the cache
        const plain = await ask(method, path);
        for (const other of spell(path)) {
          expect(await ask(method, other), `${method} ${other}`).toEqual(plain);
        }
      }
    }
  });

  it('belong to a whole URL in the path', async () => {
    const app = await buildTestApp({ env: sampleOnly });

    const reply = await app.server.inject(
      '///http://localhost:8080/search?q=a//b&format=json&platform=archive',
    );
    const host = await app.server.inject('//https://no.example//a//b/');

    expect(reply.json()).toMatchObject({ query: 'a//b' });
    expect(host.json().detail).toContain('"no.example"');
    expect(host.json().instance).toBe('/https://no.example//a//b/');
  });

  it('do not change the queries of a path', async () => {
    const app = await buildTestApp({ env: sampleOnly });

    const reply = await app.server.inject('//api/v1//search/?q=a//b/&format=json&platform=archive');

    expect(reply.json()).toMatchObject({ query: 'a//b/' });
  });
});

describe('a doubled slash', () => {
  it.each(['//api/admin/keys', '/api//admin/keys/', '//api/admin//openapi.json', '//metrics/'])(
    'does not pass the check of the admin token: %s',
    async (target) => {
      const app = await buildTestApp();

      const stranger = await app.server.inject(target);
      const operator = await app.server.inject({ url: target, headers: asAdmin });

      expect([stranger.statusCode, operator.statusCode]).toEqual([401, 200]);
      expect(stranger.headers['access-control-allow-origin']).toBeUndefined();
    },
  );

  it.each(['//admin', '/admin//keys/', '//admin/no-page'])(
    'does not pass the sign-in of the dashboard: %s',
    async (target) => {
      const app = await buildTestApp();

      const reply = await app.server.inject(target);

      expect(reply.statusCode).toBe(401);
      expect(reply.body).not.toContain(adminToken);
    },
  );

  it('is part of the name if it is percent-encoded', async () => {
    const app = await buildTestApp();

    const reply = await app.server.inject('/%2Fadmin');

    expect([reply.statusCode, reply.headers['www-authenticate']]).toEqual([400, undefined]);
  });

  it('is not taken for the name of a host', async () => {
    const app = await buildTestApp();

    const reply = await app.server.inject('//no.example/no/such/route?q=1');

    expect([reply.statusCode, reply.json().instance]).toEqual([
      404,
      '/no.example/no/such/route?q=1',
    ]);
  });

  it('is logged as it was sent', async () => {
    const lines: string[] = [];
    const app = await buildTestApp({
      env: { PERCH_ACCESS_LOG: 'all' },
      onLog: (line) => lines.push(line),
    });

    await app.server.inject('//docs//keys/');

    const urls = lines.map((line) => JSON.parse(line).url).filter((one) => one !== undefined);
    expect(urls).toEqual(['//docs//keys/']);
  });
});

it('the session service has the same paths with another prefix', async () => {
  const rig = await buildSessionRig({ env: { PERCH_SESSION_PREFIX: 'ask' } });

  const reply = await rig.app.server.inject({
    ...{ method: 'POST', url: '//ask/v1//session/' },
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify({ message: 'How many shards does Heron use?' }),
  });

  expect(reply.statusCode).toBe(202);
});

it('a signed-in operator gets the dashboard at /admin/ without a redirect', async () => {
  const operator = await signIn(await sharedApp.open());

  const [plain, slashed] = [await operator.open('/admin'), await operator.open('/admin/')];

  expect([slashed.statusCode, slashed.headers.location]).toEqual([
    plain.statusCode,
    plain.headers.location,
  ]);
});
