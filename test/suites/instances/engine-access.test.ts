import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { healthySettings, runDoctor } from '../../support/doctor-rig.ts';
import { describeWithEngine, freePort, startEngine } from '../../support/engine-server.ts';
import { createSelfSigned } from '../../support/self-signed.ts';
import { spawnPerch, temporaryFolder } from '../../support/spawn-perch.ts';

/** Runs `perch keys list`, `perch serve` and `perch doctor` with an engine that they cannot use. */
async function runAll(settings: Readonly<Record<string, string>>) {
  const env = { PERCH_REDIS_TIMEOUT_MS: '10000', ...settings };
  const [keys, serve] = await Promise.all([
    spawnPerch(['keys', 'list'], env).ended,
    spawnPerch(['serve'], { ...env, PORT: '0' }).ended,
  ]);
  // by itself, because its checks have a limit of time
  const doctor = await runDoctor({ ...(await healthySettings()), ...env });
  return { keys, serve, doctor };
}

/** Starts an engine with a port for TLS, whose certificate is for the given name. */
async function startTls(name: string, clients = 'no') {
  const folder = temporaryFolder();
  const { key, cert } = createSelfSigned(name);
  const paths = { key: `${folder}/key.pem`, cert: `${folder}/cert.pem` };
  writeFileSync(paths.key, key);
  writeFileSync(paths.cert, cert);
  const port = await freePort();
  const files = ['--tls-cert-file', paths.cert, '--tls-key-file', paths.key];
  const authority = ['--tls-ca-cert-file', paths.cert, '--tls-auth-clients', clients];
  await startEngine('--tls-port', String(port), ...files, ...authority);
  return { port, authority: paths.cert };
}

describeWithEngine('an engine over TLS with a private authority', () => {
  it('is used with PERCH_REDIS_CA_FILE', async () => {
    const { port, authority } = await startTls('localhost');
    const env = {
      PERCH_REDIS_URL: `rediss://localhost:${port}`,
      PERCH_REDIS_CA_FILE: authority,
      PERCH_REDIS_TIMEOUT_MS: '10000',
    };

    const server = spawnPerch(['serve'], { ...env, PORT: '0' });
    await server.printed(/Perch is ready/);
    const created = await spawnPerch(['keys', 'create', '--label', 'test'], env).ended;
    const listed = await spawnPerch(['keys', 'list'], env).ended;
    const { of } = await runDoctor({ ...(await healthySettings()), ...env });

    expect([created.code, listed.code]).toEqual([0, 0]);
    expect(listed.stdout).toContain('test');
    expect(of('engine')).toMatch(/^ok: /);
  });

  it.each([
    [
      'an unknown authority',
      { name: 'localhost', host: 'localhost' },
      'The certificate of the engine is from an authority that Perch does not know. Set PERCH_REDIS_CA_FILE to a file with the certificate of this authority.',
    ],
    [
      'another host name',
      { name: 'valkey.example.org', host: 'localhost', hasFile: true },
      'The certificate of the engine is for another host name. Use a host name of the certificate in PERCH_REDIS_URL.',
    ],
    [
      'a client without a certificate',
      { name: 'localhost', host: 'localhost', hasFile: true, clients: 'yes' },
      'The engine requires a client certificate, which Perch does not have. Set `tls-auth-clients no` in the configuration of the engine.',
    ],
  ])('is refused with clear words: %s', async (_, { name, host, ...rest }, words) => {
    const { hasFile, clients } = { hasFile: false, clients: 'no', ...rest };
    const { port, authority } = await startTls(name, clients);
    const place = `${host}:${port}`;

    const { keys, serve, doctor } = await runAll({
      PERCH_REDIS_URL: `rediss://${place}`,
      ...(hasFile && { PERCH_REDIS_CA_FILE: authority }),
    });

    const message = `perch: The shared engine at ${place} cannot be used. ${words}\n`;
    expect([keys.code, keys.stderr]).toEqual([3, message]);
    expect([serve.code, serve.stderr]).toEqual([75, message]);
    expect(doctor.of('engine')).toBe(
      `fault: The shared engine at ${place} cannot be used. ${words}`,
    );
  });

  it.each([
    ['/no/such/file.pem', 'does not exist'],
    ['deploy/nginx.conf', 'contains no certificate'],
  ])('names a file that cannot be used: %s', async (path, reason) => {
    const file = path.startsWith('/') ? path : `${process.cwd()}/${path}`;

    const { keys, serve, doctor } = await runAll({
      PERCH_REDIS_URL: 'rediss://localhost:1',
      PERCH_REDIS_CA_FILE: file,
    });

    const words = `PERCH_REDIS_CA_FILE is "${file}", but this file ${reason}. Set it to a file with certificates in PEM.`;
    expect([keys.code, keys.stderr]).toEqual([3, `perch: ${words}\n`]);
    expect([serve.code, serve.stderr]).toEqual([75, `perch: ${words}\n`]);
    expect(doctor.of('engine')).toBe(`fault: ${words}`);
  });
});

describeWithEngine('an engine that refuses the user', () => {
  const permissions =
    'The engine refuses a command to the user of Perch. Give the user in PERCH_REDIS_URL the permissions in docs/instances.md, under “Requirements of Valkey or Redis”.';

  it.each([
    [
      'the password',
      'perch on >swordfish ~* &* +@all',
      'The engine refuses the user name or the password. Correct the user name and the password in PERCH_REDIS_URL.',
    ],
    ['the keys', 'perch on >marlin ~other:* &perch:* +@all', permissions],
    ['the channels', 'perch on >marlin ~perch:* resetchannels +@all', permissions],
    ['the commands', 'perch on >marlin ~perch:* &perch:* +@all -evalsha', permissions],
  ])('is refused with clear words: %s', async (_, rules, words) => {
    const { port } = await startEngine('--user', ...rules.split(' '));

    const { keys, serve, doctor } = await runAll({
      PERCH_REDIS_URL: `redis://perch:marlin@127.0.0.1:${port}`,
    });

    const message = `perch: The shared engine at 127.0.0.1:${port} cannot be used. ${words}\n`;
    expect([serve.code, serve.stderr]).toEqual([75, message]);
    expect([keys.code, keys.stderr]).toEqual([3, message]);
    expect(doctor.of('engine')).toBe(
      `fault: The shared engine at 127.0.0.1:${port} cannot be used. ${words}`,
    );
    expect(doctor.output + keys.stderr + serve.stdout).not.toContain('marlin');
  });
});
