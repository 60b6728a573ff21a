import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkNames } from '../../src/cli/doctor/finding.ts';
import {
  healthySettings,
  otherUser,
  runDoctor,
  startProxy,
  startServer,
} from '../support/doctor-rig.ts';
import { describeWithEngine, freePort, startEngine } from '../support/engine-server.ts';
import { fakeModel } from '../support/fake-model.ts';
import { answerText, hang } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { createSelfSigned } from '../support/self-signed.ts';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

const token = 'swordfish-'.repeat(4);

/** Writes a file into a folder of its own, and returns its path. */
function save(text: string, mode = 0o600): string {
  const path = `${temporaryFolder()}/file.txt`;
  writeFileSync(path, text, { mode });
  return path;
}

describe('perch doctor', () => {
  it('finds nothing in a healthy set-up, with the server stopped and running', async () => {
    const env = await healthySettings();

    const stopped = await runDoctor(env);
    await startServer({ ...env, PERCH_ADMIN_TOKEN: token });
    const running = await runDoctor({ ...env, PERCH_ADMIN_TOKEN: token });

    expect(new Set(stopped.report.findings.map(({ check }) => check))).toEqual(new Set(checkNames));
    for (const { report, code } of [stopped, running]) {
      expect(report.findings.filter(({ status }) => status !== 'ok')).toEqual([]);
      expect({ status: report.status, code }).toEqual({ status: 'ok', code: 0 });
    }
    expect(stopped.of('port')).toContain('is free. No server is running.');
    expect(running.of('port')).toBe(`ok: Perch is running on port ${env.PORT} of 127.0.0.1.`);
    expect(running.of('base_url')).toBe(`ok: http://localhost:${env.PORT} leads to this server.`);
    expect(running.of('databases')).toMatch(/^ok: SQLite finds no errors in .*sessions\.db/);
  });

  it('prints a line for each finding without --json', async () => {
    const env = await healthySettings();

    const { code, stdout, stderr } = await spawnPerch(['doctor'], env).ended;

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(checkNames.length);
    for (const line of lines) expect(line).toMatch(/^(?:ok|warning|fault) +[a-z]/);
  });

  it('changes no file in the data folder, and does not create the folder', async () => {
    const env = await healthySettings();
    const folder = env.PERCH_DATA_DIR ?? '';
    await spawnPerch(['read', '@ada.example'], env).ended;
    await spawnPerch(['keys', 'create', '--label', 'Ada'], env).ended;
    const digest = (name: string) =>
      createHash('sha256')
        .update(readFileSync(`${folder}/${name}`))
        .digest('hex');
    const listFiles = (names: readonly string[]) => names.map((name) => [name, digest(name)]);
    const names = readdirSync(folder);
    const before = listFiles(names);

    await runDoctor(env);
    await runDoctor({ ...env, PERCH_DATA_DIR: `${folder}/new` });

    expect(listFiles(names)).toEqual(before);
    // SQLite creates these two to read a database in WAL mode (https://sqlite.org/wal.html#readonly).
    const added = readdirSync(folder).filter((name) => !names.includes(name));
    expect(added.filter((name) => !/\.db-(?:wal|shm)$/.test(name))).toEqual([]);
  });

  it('runs all other checks if a setting is not valid', async () => {
    const env = await healthySettings();

    const { of, code, report } = await runDoctor({ ...env, PORT: 'x', PERCH_REDIS_URL: 'y' });

    expect(code).toBe(1);
    expect(of('settings')).toContain('fault: PORT is "x", but must be a whole number');
    expect(of('port')).toBe(
      'warning: Not checked, because PORT is not valid. Correct the settings first.',
    );
    expect(of('engine')).toContain('Not checked, because PERCH_REDIS_URL is not valid.');
    expect(of('data_folder')).toMatch(/^ok:/);
    expect(of('corpus')).toMatch(/^ok:/);
    expect(new Set(report.findings.map(({ check }) => check))).toEqual(new Set(checkNames));
  });

  it('never prints a secret', async () => {
    const env = await healthySettings();
    const redis = `redis://user:${token}@127.0.0.1:${await freePort()}`;
    const model = await fakeModel((exchange) =>
      exchange.reply({ type: 'text/plain', text: token }, 401),
    );

    const { output, report } = await runDoctor({
      ...env,
      PERCH_ADMIN_TOKEN: token,
      PERCH_CURSOR_KEY: `${token}\u0000`.slice(0, 8),
      PERCH_REDIS_URL: redis,
      PERCH_MODEL_URL: `${model.url}/${token}`,
      PERCH_MODEL: 'small',
      PERCH_MODEL_KEY: token,
    });

    expect(report.status).toBe('fault');
    expect(output).not.toContain('swordfish');
  });
});

describe('perch doctor finds, among the settings,', () => {
  it('invalid ones', async () => {
    const env = await healthySettings();

    const { of, code } = await runDoctor({ ...env, PERCH_SAMPLE: 'maybe' });

    expect(code).toBe(1);
    expect(of('settings')).toBe('fault: PERCH_SAMPLE is "maybe", but must be true or false.');
  });

  it('misspelt names', async () => {
    const env = await healthySettings();

    const { of, code } = await runDoctor({ ...env, PERCH_CORPIS: 'docs' });

    expect(code).toBe(0);
    expect(of('settings')).toMatch(/^warning: PERCH_CORPIS is set.+Did you mean PERCH_CORPUS\?$/);
  });

  it('a secret file that is missing', async () => {
    const env = await healthySettings();

    const { of, code } = await runDoctor({ ...env, PERCH_ADMIN_TOKEN_FILE: '/run/none/token' });

    expect(code).toBe(1);
    expect(of('settings')).toContain('PERCH_ADMIN_TOKEN_FILE is "/run/none/token", but this file');
  });

  it('a secret that is also in a file', async () => {
    const env = await healthySettings();
    const both = { PERCH_ADMIN_TOKEN: token, PERCH_ADMIN_TOKEN_FILE: save(token) };

    const { of, code } = await runDoctor({ ...env, ...both });

    expect(code).toBe(1);
    expect(of('settings')).toContain('are both set. Remove one of them.');
  });

  it('a line of the settings file that is not valid, also with --config', async () => {
    const env = await healthySettings();
    const path = save('PERCH_SAMPLE');

    const { of, code } = await runDoctor(env, { args: ['--config', path] });

    expect(code).toBe(1);
    expect(of('settings')).toContain(`${path}, line 1: This line is not of the form NAME=value.`);
  });

  it('a settings file with secrets that other users can read', async () => {
    const env = await healthySettings();
    const path = save(`PERCH_ADMIN_TOKEN=${token}`, 0o644);

    const { of } = await runDoctor({ ...env, PERCH_CONFIG: path });

    expect(of('settings')).toBe(
      `warning: Other users can access ${path}, which contains secrets. Run \`chmod 600 ${path}\`.`,
    );
  });
});

describe('perch doctor finds a data folder', () => {
  it('that the user may not write', async () => {
    const env = await healthySettings();
    const folder = env.PERCH_DATA_DIR ?? '';
    chmodSync(folder, 0o555);

    const { of, code } = await runDoctor(env, { uid: otherUser });

    expect(code).toBe(1);
    expect(of('data_folder')).toMatch(/^fault: The user \d+ has no permission to read and write/);
    expect(of('data_folder')).toContain(`chown -R ${otherUser ?? process.getuid?.()} ${folder}`);
  });

  it('that cannot be created', async () => {
    const env = await healthySettings();
    const folder = `${env.PERCH_DATA_DIR}/a/b`;
    chmodSync(env.PERCH_DATA_DIR ?? '', 0o555);

    const { of, code } = await runDoctor({ ...env, PERCH_DATA_DIR: folder }, { uid: otherUser });

    expect(code).toBe(1);
    expect(of('data_folder')).toContain(`has no permission to create ${folder} in`);
  });

  it('that other users can access', async () => {
    const env = await healthySettings();
    chmodSync(env.PERCH_DATA_DIR ?? '', 0o777);

    const { of, code } = await runDoctor(env);

    expect(code).toBe(0);
    expect(of('data_folder')).toMatch(
      /^warning: Other users can access .+777\). Run `chmod 700 \//,
    );
  });

  it('that is a file', async () => {
    const env = await healthySettings();
    const path = save('');

    const { of, code } = await runDoctor({ ...env, PERCH_DATA_DIR: path });

    expect(code).toBe(1);
    expect(of('data_folder')).toContain('is not a folder. Set PERCH_DATA_DIR to a folder.');
  });

  it.skipIf(otherUser === undefined)('with files of another user', async () => {
    const env = await healthySettings();
    const folder = env.PERCH_DATA_DIR ?? '';
    await spawnPerch(['keys', 'create', '--label', 'Ada'], env).ended;
    chownSync(folder, 1, 1);

    const { of } = await runDoctor(env);

    expect(of('data_folder')).toContain('perch.db in');
    expect(of('data_folder')).toContain(
      `belong to different users. Run \`chown -R USER ${folder}\``,
    );
  });
});

describe('perch doctor finds in the data folder', () => {
  it('a damaged database, also while the server runs', async () => {
    const env = await healthySettings();
    const path = `${env.PERCH_DATA_DIR}/archive.db`;
    await spawnPerch(['read', '@ada.example'], env).ended;
    await startServer({ ...env, PERCH_PROVIDERS: 'fxtwitter' }); // it leaves the archive closed
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0x5a, 4096, Math.floor(bytes.length / 2)));

    const { of, code } = await runDoctor(env);

    expect(code).toBe(1);
    expect(of('databases')).toMatch(/^fault: .+archive\.db is damaged/);
    expect(of('databases')).toMatch(/estore a backup/);
  });

  it('a file that is not a database', async () => {
    const env = await healthySettings();
    writeFileSync(`${env.PERCH_DATA_DIR}/perch.db`, 'This is a letter to a friend. '.repeat(99));

    const { of, code } = await runDoctor(env);

    expect(code).toBe(1);
    expect(of('databases')).toContain('perch.db is damaged, or was not written by Perch. Restore');
  });

  it('a file without a valid secret', async () => {
    const env = await healthySettings();
    writeFileSync(`${env.PERCH_DATA_DIR}/cursor.key`, 'abc');

    const { of, code } = await runDoctor(env);

    expect(code).toBe(1);
    expect(of('databases')).toContain('cursor.key does not contain a secret of 64 hex digits.');
  });
});

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

  it('of a proxy that does not reach Perch', async () => {
    const proxy = await startProxy(String(await freePort()), {});

    const { of, code } = await diagnose(proxy);

    expect(code).toBe(1);
    expect(of('base_url')).toMatch(/answers 502, because it does not reach Perch\. Let the proxy/);
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

  it('whose proxy sends another host name to Perch', async () => {
    const env = await healthySettings();
    const proxy = await startProxy(env.PORT ?? '', { host: 'perch.internal.example' });
    await startServer({ ...env, PERCH_BASE_URL: proxy });

    const { of, code } = await runDoctor({ ...env, PERCH_BASE_URL: proxy });

    expect(code).toBe(1);
    expect(of('base_url')).toContain('Configure the proxy to pass the header Host');
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
    ['another token', { PERCH_ADMIN_TOKEN: 'x'.repeat(40) }, 'Restart the server with the same'],
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

/** Settings with FxTwitter as the only provider. */
const withFxTwitter = async (url: string) => ({
  ...(await healthySettings()),
  PERCH_PROVIDERS: 'archive,fxtwitter',
  PERCH_FXTWITTER_URL: url,
});

const missing = JSON.stringify({ code: 404, message: 'User not found' });

describe('perch doctor finds a provider', () => {
  it.each([
    [401, 'fault: fxtwitter cannot be used', '(status 401)'],
    [500, 'fault: fxtwitter cannot be used', '(status 500)'],
    [429, 'warning: fxtwitter limits the rate', '(status 429)'],
  ])('that answers with the status %d', async (status, start, detail) => {
    const { url } = await upstream((_request, response) => response.writeHead(status).end());

    const { of } = await runDoctor(await withFxTwitter(url));

    expect(of('providers').startsWith(start)).toBe(true);
    expect(of('providers')).toContain(detail);
  });

  it('that is down', async () => {
    const { of, code } = await runDoctor(
      await withFxTwitter(`http://127.0.0.1:${await freePort()}`),
    );

    expect(code).toBe(1);
    expect(of('providers')).toMatch(/^fault: fxtwitter cannot be used \(ECONNREFUSED\)\. .+ Check/);
    expect(of('providers')).toContain('remove fxtwitter from PERCH_PROVIDERS');
    expect(of('clock')).toMatch(/^warning: The clock cannot be compared/);
  });

  it('that is slow', async () => {
    const { url } = await upstream((_request, response) => {
      setTimeout(
        () => answerText(response, { type: 'application/json', text: missing }, { status: 404 }),
        1700,
      );
    });

    const { of, code } = await runDoctor(await withFxTwitter(url));

    expect(code).toBe(0);
    expect(of('providers')).toMatch(/^warning: fxtwitter answered only after \d\.\d seconds/);
  });

  it('that never answers', async () => {
    const { url } = await upstream(hang);
    const env = { ...(await withFxTwitter(url)), PERCH_ATTEMPT_TIMEOUT_MS: '300' };

    const { of, code } = await runDoctor(env);

    expect(code).toBe(1);
    expect(of('providers')).toContain('The source did not answer in time.');
  });
});

describe('perch doctor finds a clock', () => {
  it.each([
    ['right', 0, /^ok: The clock agrees/],
    [
      'seconds behind',
      20_000,
      /^warning: .+ is 20 seconds behind the clocks of the providers\. Turn on/,
    ],
    ['hours behind', 7_200_000, /^fault: .+ 7200 seconds behind/],
    ['hours ahead', -7_200_000, /^fault: .+ 7200 seconds ahead of/],
  ])('that is %s', async (_, shiftMs, expected) => {
    const { url } = await upstream((_request, response) => {
      const date = new Date(Date.now() + shiftMs + 500).toUTCString();
      const type = 'application/json';
      response.writeHead(404, { 'content-type': type, date }).end(missing);
    });

    const { of } = await runDoctor(await withFxTwitter(url));

    expect(
      of('clock')
        .replace(/ (?:19|21) sec/, ' 20 sec')
        .replace(/ (?:7199|7201) /, ' 7200 '),
    ).toMatch(expected);
    expect(of('providers')).toMatch(/^ok: fxtwitter answered in/);
  });
});

describe('perch doctor finds documents', () => {
  const diagnose = async (path: string, uid?: number) => {
    const env = await healthySettings();
    const { of, code } = await runDoctor(
      { ...env, PERCH_CORPUS: path, ...(uid !== undefined && { PERCH_DATA_DIR: ':memory:' }) },
      { uid },
    );
    return `${code} ${of('corpus')}`;
  };

  it('that are missing', async () => {
    expect(await diagnose('/nowhere/docs')).toMatch(
      /^1 fault: .+There is no folder or file \/nowhere\/docs\. Correct PERCH_CORPUS\.$/,
    );
  });

  it('that the user may not read', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, otherUser === undefined ? 0 : 0o700);

    expect(await diagnose(folder, otherUser)).toMatch(
      /^1 fault: .+cannot read\. Give this user acc/,
    );
    chmodSync(folder, 0o700);
  });

  it('of which the user may not read some', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o755);
    writeFileSync(`${folder}/a.md`, '# A');
    writeFileSync(`${folder}/b.md`, '# B', { mode: otherUser === undefined ? 0 : 0o600 });

    expect(await diagnose(folder, otherUser)).toMatch(
      /^0 warning: 1 files or folders in .+chmod -R/,
    );
  });

  it('in no known format', async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/a.png`, '');

    expect(await diagnose(folder)).toMatch(/^0 warning: .+ contains no documents in a format/);
  });
});

describe('perch doctor finds a language model', () => {
  const diagnose = async (url: string) => {
    const env = await healthySettings();
    const model = { PERCH_MODEL_URL: url, PERCH_MODEL: 'small:7b', PERCH_MODEL_KEY: 'key' };
    const limits = { PERCH_MODEL_STALL_SECONDS: '1' };
    const { of, code } = await runDoctor({ ...env, ...model, ...limits });
    return `${code} ${of('model')}`;
  };
  const refusing = async (status: number) => {
    const body = { type: 'application/json', text: '{"error":{"message":"no"}}' };
    return (await fakeModel((exchange) => exchange.reply(body, status))).url;
  };

  it('that answers', async () => {
    const { url, requests } = await fakeModel((exchange) => {
      exchange.say('OK');
      exchange.finish();
    });

    expect(await diagnose(url)).toMatch(
      /^0 ok: The language model small:7b at 127\.0\.0\.1 answers/,
    );
    expect(requests).toMatchObject([{ model: 'small:7b', authorization: 'Bearer key' }]);
  });

  it('that is down', async () => {
    expect(await diagnose(`http://127.0.0.1:${await freePort()}/v1`)).toMatch(
      /^1 fault: .+could not be reached.+Start the server of the model, or correct PERCH_MODEL_URL/,
    );
  });

  it.each([
    [401, /^1 fault: .+refuses the key \(status 401\)\. Correct PERCH_MODEL_KEY\./],
    [
      404,
      /^1 fault: .+does not accept the model small:7b \(status 404\)\. Correct PERCH_MODEL, or/,
    ],
    [429, /^0 warning: .+limits the rate of requests/],
    [500, /^1 fault: .+answered 500/],
  ])('that answers with the status %d', async (status, expected) => {
    expect(await diagnose(await refusing(status))).toMatch(expected);
  });

  it('that does not answer in time', async () => {
    const { url } = await fakeModel(() => {});

    expect(await diagnose(url)).toMatch(/^0 warning: .+did not answer within 1 seconds\. If the/);
  });
});

describe('perch doctor finds an engine', () => {
  it('that is down', async () => {
    const env = await healthySettings();
    const port = await freePort();

    const { of, code } = await runDoctor({ ...env, PERCH_REDIS_URL: `redis://127.0.0.1:${port}` });

    expect(code).toBe(1);
    expect(of('engine')).toBe(
      `fault: The engine at 127.0.0.1:${port} does not answer. The engine cannot be reached. Start it, or correct PERCH_REDIS_URL.`,
    );
  });
});

describeWithEngine('perch doctor finds an engine', () => {
  const diagnose = async (options: readonly string[], more: Record<string, string> = {}) => {
    const [env, engine] = [await healthySettings(), await startEngine(...options)];
    const { of, code } = await runDoctor({ ...env, PERCH_REDIS_URL: engine.url, ...more });
    return `${code} ${of('engine')}`;
  };

  it('that is healthy', async () => {
    expect(await diagnose([])).toMatch(/^0 ok: .+ms, and its settings are safe\.$/);
  });

  it('that loses data when it restarts', async () => {
    expect(await diagnose(['--appendonly', 'no'])).toMatch(
      /^1 fault: .+no append-only file.+Set `appendonly yes`/,
    );
  });

  it('that may lose data when it restarts', async () => {
    expect(await diagnose(['--appendonly', 'no'], { PERCH_REDIS_ALLOW_VOLATILE: 'true' })).toMatch(
      /^0 warning: Append-only persistence is off/,
    );
  });

  it('that deletes keys when it is full', async () => {
    const full = ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'];

    expect(await diagnose(full)).toMatch(
      /^0 warning: .+not noeviction.+`maxmemory-policy noeviction`/,
    );
  });

  it('that refuses the password', async () => {
    const [env, engine] = [await healthySettings(), await startEngine()];
    const url = engine.url.replace('redis://', 'redis://ada:swordfish@');

    const { of, output } = await runDoctor({ ...env, PERCH_REDIS_URL: url });

    expect(of('engine')).toMatch(/^fault: .+The engine refuses the user name or the password\./);
    expect(output).not.toContain('swordfish');
  });
});
