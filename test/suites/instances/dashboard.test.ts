import { expect, it } from 'vitest';
import { createSharedAdminSessions } from '../../../src/access/admin-sessions.ts';
import { systemRandom } from '../../../src/lib/random.ts';
import { openSharedSecret } from '../../../src/lib/secret.ts';
import { adminToken, type TestApp } from '../../support/build-app.ts';
import { cookieOf, navigation, sendForm, signIn } from '../../support/dashboard.ts';
import {
  describeWithEngine,
  type EngineServer,
  openTestEngine,
  runEngineCli,
  startEngine,
} from '../../support/engine-server.ts';
import { openInstances, startInstances } from '../../support/instances.ts';

const keyPattern = /perch_[A-Za-z0-9_-]{43}/;

async function startTwo() {
  const { apps, engine } = await startInstances(2);
  const [one, two] = apps as [TestApp, TestApp];
  return { one, two, engine };
}

const statusAt = async (app: TestApp, cookie: string): Promise<number> => {
  const reply = await app.request('/admin/keys', { headers: { ...navigation, cookie } });
  return reply.statusCode;
};

describeWithEngine('the dashboard of several instances', () => {
  it('accepts a session of another instance, and ends it everywhere', async () => {
    const { one, two } = await startTwo();
    const operator = await signIn(one);
    const { cookie } = operator.headers;
    expect(await statusAt(two, cookie)).toBe(200);

    const fields = { form_token: operator.formToken };
    const reply = await sendForm(two, '/admin/sign-out', fields, { ...navigation, cookie });

    expect(reply.statusCode).toBe(303);
    expect([await statusAt(one, cookie), await statusAt(two, cookie)]).toEqual([401, 401]);
  });

  it('shows a key at another instance than the one that created it', async () => {
    const { one, two } = await startTwo();
    const operator = await signIn(one);

    const made = await operator.submit('/admin/keys/new', { label: 'Ada' });
    const cookie = `${operator.headers.cookie}; ${cookieOf(made)}`;
    const headers = { ...navigation, cookie };
    const shown = await two.request(String(made.headers.location), { headers });

    const [key = ''] = keyPattern.exec(shown.body) ?? [];
    const read = { authorization: `Bearer ${key}` };
    const reply = await two.request('/api/v1/profiles/ada.example', { headers: read });
    expect(reply.headers['x-api-key-status']).toBe('valid');
  });

  it('shows the figures of one instance, and says which', async () => {
    const { one, two } = await startTwo();
    const operator = await signIn(one);

    for (let at = 0; at < 5; at += 1) await two.request('/no/route');
    const { body } = await operator.open('/admin');
    const { cookie } = operator.headers;
    const other = await two.request('/admin', { headers: { ...navigation, cookie } });

    const nameOf = (html: string) =>
      /figures of the instance <code>([^<]+)<\/code>/.exec(html)?.[1];
    expect(nameOf(body)).toMatch(/^[\w-]+$/);
    expect(nameOf(other.body)).not.toBe(nameOf(body));
    expect(body).toContain('No error responses in the last hour.');
    expect(other.body).toContain('5 error responses in the last hour');
  });

  it('ends all sessions if the admin token changes', async () => {
    const engine = await startEngine();
    const token = 'another-admin-token-for-tests-of-44-characters';
    const { apps } = await openInstances([engine.url, engine.url], (index) => ({
      env: index === 0 ? {} : { PERCH_ADMIN_TOKEN: token },
    }));
    const [before, after] = apps as [TestApp, TestApp];

    const { cookie } = (await signIn(before)).headers;

    expect([await statusAt(before, cookie), await statusAt(after, cookie)]).toEqual([200, 401]);
  });

  it('stores nothing from which a cookie can be computed', async () => {
    const { one, engine } = await startTwo();
    const { cookie } = (await signIn(one)).headers;
    const secret = cookie.split('=')[1] ?? '';

    const stored = runEngineCli('-p', `${engine.port}`, 'KEYS', '*');

    expect(stored).toContain('admin-session:');
    expect(stored).not.toContain(secret);
  });

  it('has sessions of one instance during an outage of the engine', async () => {
    const { one, two, engine } = await startTwo();
    const shared = (await signIn(one)).headers.cookie;

    await engine.stop();
    await expect.poll(() => statusAt(one, shared), { timeout: 20_000 }).toBe(401);
    const own = cookieOf(await sendForm(one, '/admin/sign-in', { token: adminToken }));

    // The list of keys needs the engine, but the page does answer the operator.
    expect(await statusAt(one, own)).toBe(503);
    expect(await statusAt(two, own)).toBe(401);
  });
});

const sessionKey = 'test:admin-session:a';
const hourMs = 3_600_000;

const toCli =
  ({ port }: EngineServer) =>
  (...command: readonly string[]): string =>
    runEngineCli('-p', `${port}`, ...command).trim();

describeWithEngine('the store of sessions in an engine', () => {
  it('ends a session after its idle time, which a visit restarts', async () => {
    const server = await startEngine();
    const sessions = createSharedAdminSessions(await openTestEngine(server.url));
    const send = toCli(server);
    await sessions.add('a');
    send('PEXPIRE', sessionKey, '600000');

    expect(await sessions.find('a', 'look')).toBe(true);
    expect(Number(send('PTTL', sessionKey))).toBeLessThanOrEqual(600_000);
    expect(await sessions.find('a', 'visit')).toBe(true);

    expect(Number(send('PTTL', sessionKey))).toBeGreaterThan(600_000);
    await sessions.remove('a');
    expect(await sessions.find('a', 'visit')).toBe(false);
  });

  it('ends a session at its maximum age, despite visits', async () => {
    const server = await startEngine();
    const sessions = createSharedAdminSessions(await openTestEngine(server.url));
    const send = toCli(server);

    send('SET', sessionKey, String(Date.now() - 7.9 * hourMs));
    expect(await sessions.find('a', 'visit')).toBe(true);
    expect(Number(send('PTTL', sessionKey))).toBeLessThanOrEqual(0.1 * hourMs);
    send('SET', sessionKey, String(Date.now() - 8.1 * hourMs));

    expect(await sessions.find('a', 'visit')).toBe(false);
    expect(send('EXISTS', sessionKey)).toBe('0');
  });
});

describeWithEngine('a secret in the engine', () => {
  it('is the same for all instances, and waits until a slow engine answers again', async () => {
    const server = await startEngine();
    const [one, two] = [await openTestEngine(server.url), await openTestEngine(server.url)];
    const first = await openSharedSecret(one, 'test', systemRandom);

    await one.run(() => new Promise(() => {}), 1).catch(() => {});
    expect(one.state.isUp).toBe(false);

    expect(await openSharedSecret(one, 'test', systemRandom)).toEqual(first);
    expect(await openSharedSecret(two, 'test', systemRandom)).toEqual(first);
  });
});
