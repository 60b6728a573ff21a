import { describe, expect, it } from 'vitest';
import { listAdminPaths } from '../support/admin-routes.ts';
import { adminToken, asAdmin, buildTestApp, type TestApp } from '../support/build-app.ts';
import { navigation, type Operator, signIn } from '../support/dashboard.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const label = 'Label that only the operator may see';

interface Rig {
  readonly app: TestApp;
  readonly operator: Operator;
  /** Paths of all admin routes, with the id of an existing key. */
  readonly paths: readonly string[];
  /** Returns all keys, to notice changes. */
  readonly readKeys: () => Promise<unknown>;
}

async function openRig(): Promise<Rig> {
  const app = await buildTestApp();
  const { id } = await app.createKey({ label, notes: label, allowance: 7 });
  const paths = listAdminPaths(app.server).map((path) =>
    path.replace(':id', id).replace('*', 'unknown'),
  );
  const readKeys = async () => (await app.request('/api/admin/keys', { headers: asAdmin })).json();
  return { app, operator: await signIn(app), paths, readKeys };
}

type Headers = Readonly<Record<string, string>>;

/** Headers of callers without access. */
const strangers: Readonly<Record<string, (rig: Rig) => Headers | Promise<Headers>>> = {
  'no credentials': () => ({}),
  'no credentials, in a browser': () => navigation,
  'a wrong token': () => ({ authorization: `Bearer ${'x'.repeat(40)}` }),
  'an API key': async ({ app }) => (await app.createKey({ label: 'caller' })).headers,
  'a forged session': () => ({ ...navigation, cookie: `perch_admin=${'x'.repeat(43)}` }),
  'the admin token as a cookie': () => ({ ...navigation, cookie: `perch_admin=${adminToken}` }),
  'the start of a session': ({ operator }) => ({ cookie: operator.headers.cookie.slice(0, -1) }),
  'a session in another cookie': ({ operator }) => ({
    cookie: operator.headers.cookie.replace('perch_admin', 'perch_admin_key'),
  }),
  'the form token of a session': ({ operator }) => ({
    ...navigation,
    cookie: `perch_admin=${operator.formToken}`,
  }),
  'a session that was idle for too long': async ({ app, operator }) => {
    await app.advance(1_800_000);
    return { ...navigation, ...operator.headers };
  },
  'a session that is too old': async ({ app, operator }) => {
    for (let n = 0; n < 32; n += 1) {
      await operator.open('/admin/keys');
      await app.advance(900_000);
    }
    return { ...navigation, ...operator.headers };
  },
  'a session that has signed out': async ({ operator }) => {
    expect((await operator.submit('/admin/sign-out')).statusCode).toBe(303);
    return { ...navigation, ...operator.headers };
  },
  'a session of a server with another token': async () => {
    const token = 'another-admin-token-for-tests-of-44-characters';
    const other = await buildTestApp({ env: { PERCH_ADMIN_TOKEN: token } });
    return { ...navigation, ...(await signIn(other, token)).headers };
  },
};

/** Sends every method to every admin route, each from its own address, because wrong tokens are delayed by address. */
async function sendAll({ app, paths, operator }: Rig, headers: Headers) {
  const payload = new URLSearchParams({
    form_token: operator.formToken,
    ...{ label: 'changed', allowance: '1', notes: 'changed' },
  }).toString();
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const replies = [];
  for (const path of paths) {
    for (const method of methods) {
      const remoteAddress = `198.51.${Math.floor(replies.length / 250)}.${(replies.length % 250) + 1}`;
      const hasBody = !['GET', 'HEAD', 'OPTIONS'].includes(method);
      const body = hasBody ? { payload, headers: { ...form, ...headers } } : { headers };
      const reply = await app.request(path, { method, remoteAddress, ...body });
      replies.push({ sent: `${method} ${path}`, reply });
    }
  }
  return replies;
}

describe('every route under /admin and /api/admin', () => {
  it('is in the table', async () => {
    const { paths } = await openRig();

    expect(paths).toEqual(
      expect.arrayContaining([
        ...['/admin', '/admin/keys', '/admin/keys/new', '/admin/sign-in', '/admin/sign-out'],
        ...['/admin/unknown', '/api/admin', '/api/admin/keys', '/api/admin/openapi.json'],
        ...[expect.stringMatching(/^\/admin\/keys\/[0-9a-f]{12}\/delete$/)],
      ]),
    );
    expect(paths.length * methods.length).toBeGreaterThanOrEqual(40);
  });

  it.each(Object.entries(strangers))('refuses %s', async (_, toHeaders) => {
    const rig = await openRig();
    const headers = await toHeaders(rig);
    const before = await rig.readKeys();

    const replies = await sendAll(rig, headers);

    for (const { sent, reply } of replies) {
      expect([sent, reply.statusCode, reply.headers['set-cookie']]).toEqual([sent, 401, undefined]);
      expect(reply.headers['cache-control']).toContain('no-store');
      expect(reply.body).not.toContain(label);
    }
    expect(await rig.readKeys()).toEqual(before);
  });

  it('refuses the API to a session, and the dashboard to the token', async () => {
    const rig = await openRig();
    const before = await rig.readKeys();
    const withCookie = await sendAll(
      { ...rig, paths: rig.paths.filter((path) => path.startsWith('/api/')) },
      rig.operator.headers,
    );
    const withToken = await sendAll(
      { ...rig, paths: rig.paths.filter((path) => path.startsWith('/admin')) },
      asAdmin,
    );

    for (const { sent, reply } of [...withCookie, ...withToken]) {
      expect([sent, reply.statusCode]).toEqual([sent, 401]);
    }
    expect(await rig.readKeys()).toEqual(before);
  });
});

/** Headers and form token of requests that another website makes the operator's browser send. */
const forgeries: Readonly<Record<string, { readonly headers?: Headers; readonly token?: string }>> =
  {
    'without a form token': { token: '' },
    'with the form token of nobody': { token: 'x'.repeat(43) },
    'with a foreign origin': { headers: { origin: 'https://evil.example' } },
    'with the origin of a frame without one': { headers: { origin: 'null' } },
    'from another site': { headers: { 'sec-fetch-site': 'cross-site' } },
    'from another subdomain': { headers: { 'sec-fetch-site': 'same-site' } },
  };

describe('every change with a valid session', () => {
  it.each(Object.entries(forgeries))('is refused %s', async (_, { headers = {}, token }) => {
    const rig = await openRig();
    const { operator } = rig;
    const paths = rig.paths.filter((path) => path.startsWith('/admin'));
    const before = await rig.readKeys();
    const formToken = token ?? operator.formToken;

    const replies = await sendAll(
      { ...rig, paths, operator: { ...operator, formToken } },
      { ...navigation, ...operator.headers, ...headers },
    );

    const changes = replies.filter(({ sent }) => !/^(?:GET|HEAD|OPTIONS) /.test(sent));
    for (const { sent, reply } of changes) {
      // The sign-in form needs no session, and has no token in these requests.
      expect([sent, reply.headers['set-cookie']]).toEqual([sent, undefined]);
      const refused = sent === 'POST /admin/sign-in' ? [401, 403] : [403, 404, 405];
      expect(refused, sent).toContain(reply.statusCode);
    }
    const forms = changes.filter(({ reply }) => reply.statusCode === 403);
    expect(forms.length).toBeGreaterThanOrEqual(7);
    expect(await rig.readKeys()).toEqual(before);
    expect((await operator.open('/admin/keys')).statusCode).toBe(200);
  });

  it('is not made by a request without a body, such as GET', async () => {
    const rig = await openRig();
    const before = await rig.readKeys();

    for (const path of rig.paths.filter((one) => one.startsWith('/admin'))) {
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        const headers = { ...navigation, ...rig.operator.headers };
        const { statusCode } = await rig.app.request(path, { method, headers });
        expect(statusCode, `${method} ${path}`).toBeLessThan(500);
      }
    }

    expect(await rig.readKeys()).toEqual(before);
  });
});
