import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { lockFile } from '../../src/lib/files/file-lock.ts';
import { openSqlite } from '../../src/lib/files/sqlite.ts';
import { freePort } from '../support/engine-server.ts';
import { hang } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { type RanHere, runHere } from '../support/run-here.ts';
import { type PerchProcess, spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

const serve = (env: Record<string, string> = {}): PerchProcess =>
  spawnPerch(['serve'], { PORT: '0', PERCH_SESSIONS: 'on', ...env });

/** Runs a server that cannot start, in the test's process. */
const serveHere = (env: Record<string, string>): Promise<RanHere> =>
  runHere(['serve'], { PORT: '0', PERCH_DATA_DIR: `${temporaryFolder()}/data`, ...env });

/** Creates a data folder in which `breakIt` has broken one entry. */
function brokenFolder(breakIt: (folder: string) => void): string {
  const folder = `${temporaryFolder()}/data`;
  mkdirSync(folder);
  breakIt(folder);
  return folder;
}

describe('a failed start', () => {
  it('exits with a message that names the port in use', async () => {
    const taken = createServer();
    onTestFinished(() => void taken.close());
    await once(taken.listen(0, '127.0.0.1'), 'listening');
    const { port } = taken.address() as AddressInfo; // it listens on TCP

    const ended = await serve({ PORT: String(port) }).ended;

    expect(ended.code).toBe(75);
    expect(ended.stderr).toBe(`perch: Port ${port} is already in use. Set PORT to another one.\n`);
  });

  it.each(['192.0.2.1', 'no-such-name.invalid'])(
    'exits with a message that names the HOST %s',
    async (host) => {
      const ended = await serveHere({ HOST: host });

      expect(ended.code).toBe(75);
      expect(ended.stderr).toMatch(
        new RegExp(
          `^perch: HOST is "${host}", which is not an address of this machine\\. Set .+\\n$`,
        ),
      );
    },
  );

  it.each([
    [
      'archive.db',
      'a file of something else',
      /archive\.db is damaged, or was not written by Perch/,
    ],
    [
      'sessions.db',
      'a file of something else',
      /sessions\.db is damaged, or was not written by Perch/,
    ],
    ['archive.db', 'a folder', /archive\.db cannot be opened/],
    ['sessions.db.lock', 'a folder', /sessions\.db\.lock cannot be opened/],
    [
      'cursor.key',
      'a file of something else',
      /cursor\.key does not contain a secret of 64 hex digits/,
    ],
    [
      'session.key',
      'a file of something else',
      /session\.key does not contain a secret of 64 hex digits/,
    ],
    ['session.key', 'a folder', /session\.key cannot be opened/],
  ])('exits with a message that names %s if it is %s', async (name, kind, message) => {
    const folder = brokenFolder((data) => {
      if (kind === 'a folder') mkdirSync(`${data}/${name}`);
      else
        writeFileSync(`${data}/${name}`, 'This is a letter to a friend, no database. '.repeat(99));
    });

    const ended = await serveHere({ PERCH_DATA_DIR: folder });

    expect(ended.code).toBe(75);
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).toMatch(/^perch: [A-Z].+\.\n$/);
  });

  it.each([
    ['/proc/perch/data', 75, /^perch: The folder \/proc\/perch cannot be created/],
    ['/dev/null/data', 2, /^perch: .*\/dev\/null.*is not a folder/],
  ] as const)(
    'exits with a message that %s cannot be the data folder',
    async (folder, code, message) => {
      const ended = await serveHere({ PERCH_DATA_DIR: folder });

      expect(ended.code).toBe(code);
      expect(ended.stderr).toMatch(message);
    },
  );

  it.each(['archive.db', 'perch.db', 'sessions.db'])(
    'exits with a message that a newer version of Perch wrote %s',
    async (name) => {
      const folder = `${temporaryFolder()}/data`;
      const migrations = Array.from({ length: 99 }, () => () => {});
      openSqlite({ path: `${folder}/${name}`, migrations }).close();

      const ended = await serveHere({ PERCH_DATA_DIR: folder });

      expect(ended.code).toBe(75); // another version of Perch can be installed
      expect(ended.stderr).toBe(
        `perch: ${folder}/${name} was written by a newer version of Perch (schema 99). Install that version or a later one.\n`,
      );
    },
  );

  it('reports that another server uses the folder, and does not disturb that server', async () => {
    const folder = `${temporaryFolder()}/data`;
    const first = serve({ PERCH_DATA_DIR: folder });
    const url = (await first.printed(/Server listening at (http:[^"]+)/))[1];

    const ended = await serveHere({ PERCH_DATA_DIR: folder });

    expect(ended.code).toBe(75);
    expect(ended.stderr).toMatch(
      /^perch: Another process .*sessions\.db\. .*PERCH_SESSIONS=off\.\n$/,
    );
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    expect(readFileSync(`${folder}/sessions.db.address`, 'utf8')).toContain(url);
  });
});

describe('the exit code of a server that cannot start', () => {
  it('is 2 for documents that do not exist', async () => {
    const { code } = await serveHere({ PERCH_CORPUS: '/no/such/corpus' });

    expect(code).toBe(2);
  });

  it('is 75 while a restore uses the data folder, so that systemd tries again', async () => {
    const folder = brokenFolder(() => undefined);
    const restore = lockFile(`${folder}/data.lock`);
    const unit = readFileSync('deploy/perch.service', 'utf8');

    const { code, stderr } = await serveHere({ PERCH_DATA_DIR: folder });
    restore.release();

    expect({ code, stderr }).toMatchObject({ code: 75, stderr: expect.stringMatching(/restore/) });
    // systemd tries again after each code but this one, and without a limit.
    expect(unit).toMatch(/^Restart=on-failure$/m);
    expect(unit).toMatch(/^RestartPreventExitStatus=2$/m);
    expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
  });
});

describe('a start with a data folder in which a database is missing', () => {
  it('warns that the keys are lost, and names the file', async () => {
    const folder = `${temporaryFolder()}/data`;
    const env = { PERCH_DATA_DIR: folder };
    const first = serve(env);
    await first.printed(/Perch is ready/);
    first.kill('SIGTERM');
    const before = await first.ended;
    rmSync(`${folder}/perch.db`);

    const doctor = await runHere(['doctor', '--json'], {
      ...env,
      PERCH_PROVIDERS: 'archive',
      PORT: String(await freePort()),
    });
    const second = serve(env);
    const [line] = await second.printed(/.*perch\.db was missing.*/);

    expect(before.stdout).not.toContain('was missing');
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      msg: `perch.db was missing in the data directory ${folder}, which Perch has used before, so Perch creates an empty file. All API keys are invalid. Restore a backup if you need them.`,
    });
    expect(JSON.parse(doctor.stdout).findings).toContainEqual({
      check: 'databases',
      status: 'warning',
      message: `perch.db is missing in ${folder}, which Perch has used before. All API keys are invalid.`,
      advice: expect.stringMatching(/^Stop the server and restore a backup\. /),
    });
  });

  it('does not warn if only commands have used the folder', async () => {
    const env = { PERCH_DATA_DIR: `${temporaryFolder()}/data`, PERCH_PROVIDERS: 'archive' };
    await runHere(['read', '@ada.example'], env);

    const server = serve(env);
    await server.printed(/Perch is ready/);
    server.kill('SIGTERM');

    expect((await server.ended).stdout).not.toContain('was missing');
  });
});

describe('SIGTERM while a server starts', () => {
  const moments: readonly (readonly [string, (perch: PerchProcess, folder: string) => unknown])[] =
    [
      ['before it reads the configuration', () => undefined],
      ['after it has read the configuration', (perch) => perch.told(/has no such variable/)],
      ['after it has created the folder', (_, folder) => appears(folder)],
      ['after it has created the archive', (_, folder) => appears(`${folder}/archive.db`)],
      ['after it has created the session file', (_, folder) => appears(`${folder}/sessions.db`)],
      ['after it listens', (perch) => perch.printed(/Server listening/)],
      ['after it is ready', (perch) => perch.printed(/Perch is ready/)],
      ['while it builds the index', (_, folder) => appears(`${folder}/answers.db`)],
    ];

  it.each(moments)('stops the server %s', async (_, moment) => {
    const folder = `${temporaryFolder()}/data`;
    const perch = serve({ PERCH_DATA_DIR: folder, PERCH_NO_SUCH_VARIABLE: 'x' });
    await moment(perch, folder);

    perch.kill('SIGTERM');
    const ended = await perch.ended;
    const next = serve({ PERCH_DATA_DIR: folder });
    await next.printed(/Perch is ready/);

    expect(ended.stderr).not.toMatch(/bug in Perch|Error/);
    expect(ended.signal === 'SIGTERM' || ended.code === 0).toBe(true);
  });
});

/** Waits until a file exists. */
async function appears(path: string): Promise<void> {
  await expect.poll(() => existsSync(path), { interval: 1, timeout: 20_000 }).toBe(true);
}

describe('a second signal', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s ends a draining server at once, with exit code %i', async (signal, code) => {
    const stuck = await upstream(hang);
    const perch = serve({
      PERCH_PROVIDERS: 'fxtwitter',
      PERCH_FXTWITTER_URL: stuck.url,
      PERCH_SHUTDOWN_GRACE_MS: '60000',
    });
    const url = (await perch.printed(/Server listening at (http:[^"]+)/))[1];
    const request = fetch(`${url}/jack/status/20`).catch(() => 'aborted');
    await expect.poll(() => stuck.requests.length).toBeGreaterThan(0);

    perch.kill('SIGTERM');
    await perch.printed(/is stopping/);
    perch.kill(signal);

    expect(await perch.ended).toMatchObject({ code, signal: null });
    expect(await request).toBe('aborted');
  });
});
