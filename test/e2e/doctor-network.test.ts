import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { healthySettings, runDoctor, startProxy, startServer } from '../support/doctor-rig.ts';
import { freePort } from '../support/engine-server.ts';
import { answerText, hang } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { createSelfSigned } from '../support/self-signed.ts';

const token = 'swordfish-'.repeat(4);

describe('perch doctor finds a port', () => {
  it('that another program uses', async () => {
    const env = await healthySettings();
    const server = createServer((socket) => socket.end('220 mail.example.org\r\n'));
    onTestFinished(() => void server.close());
    await once(server.listen(Number(env.PORT), '127.0.0.1'), 'listening');

    const { of, code } = await runDoctor(env);

    expect(code).toBe(1);
    expect(of('port')).toContain(`Another program uses port ${env.PORT}`);
    expect(of('port')).toContain('set PORT to another port');
  });

  it('of an address that this machine does not have', async () => {
    const env = await healthySettings();

    const { of, code } = await runDoctor({ ...env, HOST: '192.0.2.1' });

    expect(code).toBe(1);
    expect(of('port')).toContain('HOST is "192.0.2.1", which is not an address of this machine');
    expect(of('base_url')).toMatch(/^warning: Not checked, because Perch cannot listen\./);
  });
});

describe('perch doctor finds a base URL', () => {
  const diagnose = async (base: string) => {
    const env = await healthySettings();
    return runDoctor({ ...env, PERCH_BASE_URL: base });
  };

  it('of another server', async () => {
    const { url } = await upstream(({ url: path }, response) =>
      answerText(response, { type: 'text/plain', text: `You asked for ${path}` }),
    );

    const { of, code } = await diagnose(url);

    expect(code).toBe(1);
    expect(of('base_url')).toContain(`Another server answers at ${url} (status 200).`);
    expect(of('base_url')).toContain('correct PERCH_BASE_URL');
  });

  it('of another Perch server', async () => {
    const other = await healthySettings();
    await startServer(other);

    const { of, code } = await diagnose(`http://127.0.0.1:${other.PORT}`);

    expect(code).toBe(1);
    expect(of('base_url')).toContain('A Perch server answers at');
    expect(of('base_url')).toContain('but not the one at port');
  });

  it('at which nothing listens', async () => {
    const { of, code } = await diagnose(`http://127.0.0.1:${await freePort()}`);

    expect(code).toBe(1);
    expect(of('base_url')).toMatch(/cannot be reached \(ECONNREFUSED\)\. Start the proxy/);
  });

  it('whose name does not exist', async () => {
    const { of, code } = await diagnose('http://no-such-name.invalid');

    expect(code).toBe(1);
    expect(of('base_url')).toMatch(/\((?:ENOTFOUND|EAI_AGAIN)\)\. Create a DNS record for no-such/);
  });

  it('that does not answer', async () => {
    const { url } = await upstream(hang);

    const { of, code } = await diagnose(url);

    expect(code).toBe(1);
    expect(of('base_url')).toContain('did not answer in time. Check the proxy and the firewall');
  });

  it('that redirects', async () => {
    const { url } = await upstream((_request, response) =>
      response.writeHead(301, { location: 'https://perch.example.org/health/live' }).end(),
    );

    const { of, code } = await diagnose(url);

    expect(code).toBe(1);
    expect(of('base_url')).toContain('redirects to https://perch.example.org/health/live. Set PER');
  });

  it('of a proxy that cannot connect to Perch', async () => {
    const proxy = await startProxy(String(await freePort()), {});

    const { of, code } = await diagnose(proxy);

    expect(code).toBe(1);
    expect(of('base_url')).toMatch(
      /answers 502, because it cannot connect to Perch\. Let the proxy/,
    );
  });

  it('of a proxy with a certificate that nobody trusts', async () => {
    const server = createTlsServer(createSelfSigned('localhost'), (_, response) => response.end());
    onTestFinished(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;

    const { of, code } = await diagnose(`https://localhost:${port}`);

    expect(code).toBe(1);
    expect(of('base_url')).toContain('Give the proxy a valid certificate for localhost.');
  });

  it('that only this machine can use, although the server listens for others', async () => {
    const env = await healthySettings();

    const { of } = await runDoctor({ ...env, HOST: '0.0.0.0' });

    expect(of('base_url')).toContain(
      'warning: PERCH_BASE_URL is not set, so it is http://localhost',
    );
  });

  it('whose proxy changes the Host header', async () => {
    const env = await healthySettings();
    const proxy = await startProxy(env.PORT ?? '', { host: 'perch.internal.example' });
    await startServer({ ...env, PERCH_BASE_URL: proxy });

    const { of, code } = await runDoctor({ ...env, PERCH_BASE_URL: proxy });

    expect(code).toBe(1);
    expect(of('base_url')).toContain('Configure the proxy to pass the Host header');
  });
});

const forwardedFor = { 'x-forwarded-for': '203.0.113.7' };

describe.each([false, true])('perch doctor, with the server running: %s,', (isRunning) => {
  const diagnose = async (headers: Readonly<Record<string, string>>, trusted = '') => {
    const own = await healthySettings();
    const base = await startProxy(own.PORT ?? '', headers);
    const env = {
      ...own,
      PERCH_BASE_URL: base,
      PERCH_TRUST_PROXY: trusted,
      PERCH_ADMIN_TOKEN: token,
    };
    if (isRunning) await startServer(env);
    return runDoctor(env);
  };

  it('accepts a proxy that is trusted', async () => {
    const { of, code } = await diagnose(forwardedFor, 'loopback');

    expect(code).toBe(0);
    expect(of('base_url')).toMatch(/^ok:/);
    expect(of('proxy')).toMatch(/^ok: The proxy at 127\.0\.0\.1 sends X-Forwarded-For/);
  });

  it('finds a proxy that is not trusted', async () => {
    const { of, code } = await diagnose(forwardedFor);

    expect(code).toBe(1);
    expect(of('proxy')).toMatch(
      /^fault: The proxy at 127\.0\.0\.1 sends X-Forwarded-For, but PERCH/,
    );
    expect(of('proxy')).toContain('Set PERCH_TRUST_PROXY to 127.0.0.1');
  });

  it('finds trust in a proxy that sends no header', async () => {
    const { of, code } = await diagnose({}, 'loopback');

    expect(code).toBe(0);
    expect(of('proxy')).toMatch(
      /^warning: PERCH_TRUST_PROXY contains 127\.0\.0\.1, but the request/,
    );
    expect(of('proxy')).toContain('Otherwise, unset PERCH_TRUST_PROXY');
  });

  it('finds a proxy that sends only other headers', async () => {
    const { of, code } = await diagnose({ 'x-real-ip': '203.0.113.7' }, 'loopback');

    expect(code).toBe(1);
    expect(of('proxy')).toContain('Configure the proxy to send X-Forwarded-For');
  });
});

describe('the check of the proxy', () => {
  it.each([
    ['no token', {}, 'Set PERCH_ADMIN_TOKEN, or stop the server'],
    [
      'another token',
      { PERCH_ADMIN_TOKEN: 'x'.repeat(40) },
      'Restart the server with the settings',
    ],
  ])('is left out while the server runs if the doctor has %s', async (_, own, advice) => {
    const env = await healthySettings();
    await startServer({ ...env, PERCH_ADMIN_TOKEN: token });

    const { of, code } = await runDoctor({ ...env, ...own });

    expect(code).toBe(0);
    expect(of('proxy')).toMatch(/^warning: Not checked, because/);
    expect(of('proxy')).toContain(advice);
  });

  it('sends the admin token to no other server', async () => {
    const env = await healthySettings();
    await startServer({ ...env, PERCH_ADMIN_TOKEN: token });
    const other = await upstream((_request, response) =>
      answerText(response, { type: 'application/json', text: '{"status":"ok"}' }),
    );

    await runDoctor({ ...env, PERCH_ADMIN_TOKEN: token, PERCH_BASE_URL: other.url });

    expect(other.requests).toHaveLength(1);
    expect(JSON.stringify(other.requests)).not.toContain('swordfish');
  });
});
