import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectSqlite } from '../../src/lib/files/sqlite.ts';
import {
  healthySettings,
  otherUser,
  runDoctor,
  startServer,
  withFxTwitter,
} from '../support/doctor-rig.ts';
import { freePort } from '../support/engine-server.ts';
import { fakeModel } from '../support/fake-model.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const token = 'swordfish-'.repeat(4);

const checkNames = [
  'settings',
  'data_folder',
  'databases',
  'port',
  'base_url',
  'proxy',
  'clock',
  'providers',
  'engine',
  'corpus',
  'model',
] as const;

function save(text: string, mode = 0o600): string {
  const path = `${temporaryFolder()}/file.txt`;
  writeFileSync(path, text, { mode });
  return path;
}

describe('perch doctor', () => {
  it('finds nothing in a healthy set-up, with the server stopped and running', async () => {
    const env = await healthySettings();

    const stopped = await runDoctor(env);
    await startServer({ ...env, PERCH_ADMIN_TOKEN: token, PERCH_SESSIONS: 'on' });
    const running = await runDoctor({ ...env, PERCH_ADMIN_TOKEN: token });

    expect(stopped.report.findings.map(({ check }) => check)).toEqual(checkNames);
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

    const { code, stdout, stderr } = await runHere(['doctor'], env);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(checkNames.length);
    for (const line of lines) expect(line).toMatch(/^(?:ok|warning|fault) +[a-z]/);
  });

  it('changes no file in the data folder, and does not create the folder', async () => {
    const env = await healthySettings();
    const folder = env.PERCH_DATA_DIR ?? '';
    await runHere(['read', '@ada.example'], env);
    await runHere(['keys', 'create', '--label', 'Ada'], env);
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

  it('ends although nothing answers', async () => {
    const silent = createServer(() => {});
    onTestFinished(() => void silent.close());
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const address = silent.address();
    const place = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;

    const { code, of } = await runDoctor({
      ...(await withFxTwitter(`http://${place}`)),
      PORT: place.split(':')[1] ?? '',
      PERCH_BASE_URL: `http://${place}`,
      PERCH_REDIS_URL: `redis://${place}`,
      PERCH_MODEL_URL: `http://${place}/v1`,
      PERCH_MODEL: 'small',
    });

    expect(code).toBe(1);
    const results = checkNames.map((name) => `${name} ${of(name).split(':')[0]}`);
    expect(results).toEqual([
      'settings ok',
      'data_folder ok',
      'databases ok',
      'port fault',
      'base_url fault',
      'proxy warning',
      'clock warning',
      'providers fault',
      'engine fault',
      'corpus ok',
      'model warning',
    ]);
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

  it('a secret file that the user may not read', async () => {
    const env = await healthySettings();
    const path = save(token, otherUser === undefined ? 0 : 0o600);

    const { of, code } = await runDoctor(
      { ...env, PERCH_DATA_DIR: ':memory:', PERCH_ADMIN_TOKEN_FILE: path },
      { uid: otherUser },
    );

    expect(code).toBe(1);
    expect(of('settings')).toContain('this file cannot be read by the user that runs Perch.');
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
      `warning: Other users can access ${path}, which contains secrets. Run \`chmod o= ${path}\`.`,
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
    expect(of('data_folder')).toContain(`fault: The user that runs Perch has no permission to use`);
    expect(of('data_folder')).toContain(`${folder}. Run perch as the owner of the data directory`);
  });

  it('that cannot be created, and names the parent', async () => {
    const env = await healthySettings();
    const parent = env.PERCH_DATA_DIR ?? '';
    chmodSync(parent, 0o555);

    const { of, code } = await runDoctor(
      { ...env, PERCH_DATA_DIR: `${parent}/a/b` },
      { uid: otherUser },
    );

    expect(code).toBe(1);
    expect(of('data_folder')).toContain(`has no permission to use ${parent}. Run perch as`);
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
    await runHere(['keys', 'create', '--label', 'Ada'], env);
    chownSync(folder, 1, 1);

    const { of } = await runDoctor(env);

    expect(of('data_folder')).toContain(`2 files in ${folder}, such as data.lock,`);
    expect(of('data_folder')).toContain(
      `belong to different users. Run \`chown -R USER ${folder}\``,
    );
  });
});

describe('perch doctor finds in the data folder', () => {
  it('a damaged database, also while the server runs', async () => {
    const env = await healthySettings();
    const path = `${env.PERCH_DATA_DIR}/archive.db`;
    await runHere(['read', '@ada.example'], env);
    await startServer({ ...env, PERCH_PROVIDERS: 'fxtwitter' }); // it leaves the archive closed
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0x5a, 4096, Math.floor(bytes.length / 2)));

    const { of, code } = await runDoctor(env);

    expect(code).toBe(1);
    expect(of('databases')).toMatch(/^fault: .+archive\.db is damaged/);
    expect(of('databases')).toMatch(/estore a backup/);
  });

  it('a database that a newer version of Perch wrote', async () => {
    const env = await healthySettings();
    await runHere(['keys', 'create', '--label', 'Ada'], env);
    const database = connectSqlite({ path: `${env.PERCH_DATA_DIR}/perch.db` });
    database.exec('PRAGMA user_version = 99');
    database.close();

    const { of, code } = await runDoctor(env);

    expect(code).toBe(1);
    expect(of('databases')).toMatch(
      /^fault: .+perch\.db was written by a newer version of Perch \(schema 99\)\. Install that/,
    );
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
