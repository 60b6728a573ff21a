import { describe, expect, it } from 'vitest';
import { version } from '../../src/lib/version.ts';
import { adminToken, buildTestApp } from '../support/build-app.ts';
import { cookieOf, navigation, sendForm, signIn } from '../support/dashboard.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { parsePage } from '../support/render-html.ts';

const hourMs = 3_600_000;

describe('signing in at the dashboard', () => {
  it('opens a session with a cookie for the dashboard only', async () => {
    const app = await buildTestApp();

    const reply = await sendForm(app, '/admin/sign-in', { token: adminToken }, navigation);

    expect([reply.statusCode, reply.headers.location]).toEqual([303, '/admin']);
    expect(reply.headers['set-cookie']).toMatch(
      /^perch_admin=[\w-]{43}; Path=\/admin; Max-Age=28800; HttpOnly; SameSite=Strict$/,
    );
    const headers = { ...navigation, cookie: cookieOf(reply) };
    expect((await app.request('/admin/keys', { headers })).statusCode).toBe(200);
  });

  it('sends the cookie over https only, and for the path of the base URL', async () => {
    const app = await buildTestApp({ env: { PERCH_BASE_URL: 'https://example.org/perch' } });

    const reply = await sendForm(app, '/admin/sign-in', { token: adminToken });

    expect(reply.headers.location).toBe('/perch/admin');
    expect(reply.headers['set-cookie']).toMatch(/; Path=\/perch\/admin; .*; Secure$/);
  });

  it.each([
    ['/admin/keys?q=ada', '/admin/keys?q=ada'],
    ['/admin/sign-out', '/admin'],
    ['//evil.example/admin', '/admin'],
    ['https://evil.example/', '/admin'],
    ['/admin/\\evil.example', '/admin'],
    ['/administrator', '/admin'],
    [`/admin/${'x'.repeat(600)}`, '/admin'],
  ])('continues from %s at %s', async (next, expected) => {
    const app = await buildTestApp();

    const reply = await sendForm(app, '/admin/sign-in', { token: adminToken, next });

    expect(reply.headers.location).toBe(expected);
  });

  it('remembers the page that was asked for', async () => {
    const app = await buildTestApp();

    const page = await app.request('/admin/keys?q=a%20b', { headers: navigation });

    const { elements, errors } = parsePage(page.body);
    expect([page.statusCode, errors]).toEqual([401, []]);
    expect(page.body).not.toContain(`Perch ${version}`);
    expect(elements.find(({ attributes }) => attributes.name === 'next')?.attributes.value).toBe(
      '/admin/keys?q=a%20b',
    );
  });

  it('refuses a wrong token with the form again', async () => {
    const app = await buildTestApp();

    const reply = await sendForm(app, '/admin/sign-in', { token: 'wrong' }, navigation);

    expect([reply.statusCode, reply.headers['set-cookie']]).toEqual([401, undefined]);
    expect(parsePage(reply.body).text).toContain('This is not the admin token of this server.');
  });

  it('shares the delays for wrong tokens with the API', async () => {
    const slept: number[] = [];
    const manual = createManualClock();
    const sleep = async (ms: number) => void slept.push(ms);
    const app = await buildTestApp({ clock: { ...manual, sleep } });
    const tryPage = () => sendForm(app, '/admin/sign-in', { token: 'wrong' });
    const tryApi = () =>
      app.request('/api/admin/keys', { headers: { authorization: 'Bearer wrong' } });

    const replies = [];
    for (const attempt of [tryPage, tryApi, tryPage, tryPage, tryApi])
      replies.push(await attempt());

    expect(replies.map(({ statusCode }) => statusCode)).toEqual([401, 401, 401, 401, 401]);
    expect(slept).toEqual([250, 500]);
  });

  it('answers programs with the problem', async () => {
    const app = await buildTestApp();

    for (const fields of [{ token: 'wrong' }, { token: '' }, {}]) {
      const reply = await sendForm(app, '/admin/sign-in', fields);
      expect([reply.statusCode, reply.json().code]).toEqual([401, 'unauthorized']);
    }
  });

  it('refuses every token on a server without one, with the same replies', async () => {
    const bare = await buildTestApp({ env: { PERCH_ADMIN_TOKEN: '' } });
    const configured = await buildTestApp();

    for (const token of [adminToken, '', 'undefined']) {
      const sent = token === adminToken ? 'another' : token;
      const reply = await sendForm(bare, '/admin/sign-in', { token }, navigation);
      const expected = await sendForm(configured, '/admin/sign-in', { token: sent }, navigation);
      expect([reply.statusCode, reply.body]).toEqual([401, expected.body]);
    }
  });

  it.each([
    ['the longest token and path, percent-encoded', 3 * 512 + 3 * 512, 401],
    ['a form of more than 4 KiB', 4097, 413],
  ])('bounds the form that waits for a delayed reply: %s', async (_, length, status) => {
    const app = await buildTestApp();

    const reply = await sendForm(app, '/admin/sign-in', { token: 'x'.repeat(length - 6) });

    expect(reply.statusCode).toBe(status);
  });

  it('leads to the dashboard from the path of the form, once signed in', async () => {
    const app = await buildTestApp();

    const signedOut = await app.request('/admin/sign-in', { headers: navigation });
    const signedIn = await (await signIn(app)).open('/admin/sign-in');

    expect(signedOut.statusCode).toBe(401);
    expect([signedIn.statusCode, signedIn.headers.location]).toEqual([303, '/admin']);
  });

  it('refuses bodies that are not forms', async () => {
    const app = await buildTestApp();

    const reply = await app.request('/admin/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ token: adminToken }),
    });

    expect([reply.statusCode, reply.json().code]).toEqual([415, 'unsupported_media_type']);
  });
});

describe('a session of the dashboard', () => {
  it('ends after 30 minutes without a request', async () => {
    const app = await buildTestApp();
    const operator = await signIn(app);

    await app.advance(hourMs / 2 - 1);
    expect((await operator.open('/admin/keys')).statusCode).toBe(200);
    await app.advance(hourMs / 2 - 1);
    expect((await operator.open('/admin/keys')).statusCode).toBe(200);
    await app.advance(hourMs / 2);

    expect((await operator.open('/admin/keys')).statusCode).toBe(401);
  });

  it('ends after 8 hours with requests', async () => {
    const app = await buildTestApp();
    const operator = await signIn(app);
    const statuses = new Set<number>();

    for (let hours = 0.25; hours < 8; hours += 0.25) {
      await app.advance(hourMs / 4);
      statuses.add((await operator.open('/admin/keys')).statusCode);
    }
    await app.advance(hourMs / 4);

    expect([...statuses]).toEqual([200]);
    expect((await operator.open('/admin/keys')).statusCode).toBe(401);
  });

  it('ends with signing out, and deletes the cookie', async () => {
    const app = await buildTestApp();
    const [operator, other] = [await signIn(app), await signIn(app)];

    const reply = await operator.submit('/admin/sign-out');

    expect([reply.statusCode, reply.headers.location]).toEqual([303, '/admin']);
    expect(reply.headers['set-cookie']).toMatch(/^perch_admin=; Path=\/admin; Max-Age=0; /);
    expect((await operator.open('/admin/keys')).statusCode).toBe(401);
    expect((await other.open('/admin/keys')).statusCode).toBe(200);
  });

  it('ends when the same browser signs in again', async () => {
    const app = await buildTestApp();
    const operator = await signIn(app);

    await sendForm(app, '/admin/sign-in', { token: adminToken }, operator.headers);

    expect((await operator.open('/admin/keys')).statusCode).toBe(401);
  });
});

describe('a form of the dashboard', () => {
  it.each([
    ['no token', {}],
    ['another token', { form_token: 'x'.repeat(43) }],
    ['an empty token', { form_token: '' }],
  ])('is refused with %s', async (_, fields) => {
    const app = await buildTestApp();
    const { headers, open } = await signIn(app);

    const reply = await sendForm(app, '/admin/sign-out', fields, headers);

    expect([reply.statusCode, reply.json().code]).toEqual([403, 'origin_not_allowed']);
    expect((await open('/admin/keys')).statusCode).toBe(200);
  });

  it('is refused with the token of another session', async () => {
    const app = await buildTestApp();
    const [operator, other] = [await signIn(app), await signIn(app)];

    const reply = await operator.submit('/admin/sign-out', { form_token: other.formToken });

    expect(reply.statusCode).toBe(403);
  });

  it.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ])('is refused from another website: %o', async (from) => {
    const app = await buildTestApp();
    const { headers, formToken } = await signIn(app);
    const sent: Record<string, string> = { ...headers, ...navigation };
    Object.assign(sent, from);

    const reply = await sendForm(app, '/admin/sign-out', { form_token: formToken }, sent);
    const signingIn = await sendForm(app, '/admin/sign-in', { token: adminToken }, sent);

    expect([reply.statusCode, signingIn.statusCode]).toEqual([403, 403]);
    expect(signingIn.headers['set-cookie']).toBeUndefined();
  });
});
