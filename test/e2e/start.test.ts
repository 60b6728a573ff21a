import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hang } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { type PerchProcess, spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

/** Starts a server on a free port. */
const serve = (env: Record<string, string> = {}): PerchProcess =>
  spawnPerch(['serve'], { PORT: '0', ...env });

/** A data folder in which one entry is not what it should be. */
function spoiledFolder(spoil: (folder: string) => void): string {
  const folder = `${temporaryFolder()}/data`;
  mkdirSync(folder);
  spoil(folder);
  return folder;
}

describe('a start that fails', () => {
  it('names the port that is taken, and ends', async () => {
    const taken = createServer();
    onTestFinished(() => void taken.close());
    await once(taken.listen(0, '127.0.0.1'), 'listening');
    const { port } = taken.address() as AddressInfo; // it listens on TCP

    const ended = await serve({ PORT: String(port) }).ended;

    expect(ended.code).toBe(2);
    expect(ended.stderr).toBe(`perch: Port ${port} is already in use. Set PORT to another one.\n`);
  });

  it.each(['192.0.2.1', 'no-such-name.invalid'])('names the HOST %s, and ends', async (host) => {
    const ended = await serve({ HOST: host }).ended;

    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(
      new RegExp(
        `^perch: HOST is "${host}", which is not an address of this machine\\. Set .+\\n$`,
      ),
    );
  });

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
  ])('names %s where it is %s, and ends', async (name, kind, message) => {
    const folder = spoiledFolder((data) => {
      if (kind === 'a folder') mkdirSync(`${data}/${name}`);
      else
        writeFileSync(`${data}/${name}`, 'This is a letter to a friend, no database. '.repeat(99));
    });

    const ended = await serve({ PERCH_DATA_DIR: folder }).ended;

    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).toMatch(/^perch: [A-Z].+\.\n$/);
  });

  it.each([
    ['/proc/perch/data', /^perch: The folder \/proc\/perch cannot be created/],
    ['/dev/null/data', /^perch: .*\/dev\/null.*is not a folder/],
  ])('says that %s cannot be a data folder, and ends', async (folder, message) => {
    const ended = await serve({ PERCH_DATA_DIR: folder }).ended;

    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(message);
  });

  it('says that another server has the folder, and leaves that one alone', async () => {
    const folder = `${temporaryFolder()}/data`;
    const first = serve({ PERCH_DATA_DIR: folder });
    const url = (await first.printed(/Server listening at (http:[^"]+)/))[1];

    const ended = await serve({ PERCH_DATA_DIR: folder }).ended;

    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(
      /^perch: Another process .*sessions\.db\. .*PERCH_SESSIONS=off\.\n$/,
    );
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    expect(readFileSync(`${folder}/sessions.db.address`, 'utf8')).toContain(url);
  });
});

describe('SIGTERM while a server starts', () => {
  const moments: readonly (readonly [string, (perch: PerchProcess, folder: string) => unknown])[] =
    [
      ['before anything is read', () => undefined],
      ['once the configuration is read', (perch) => perch.told(/has no such variable/)],
      ['once the folder is made', (_, folder) => appears(folder)],
      ['once the archive is made', (_, folder) => appears(`${folder}/archive.db`)],
      ['once the sessions are made', (_, folder) => appears(`${folder}/sessions.db`)],
      ['once it listens', (perch) => perch.printed(/Server listening/)],
      ['once it is ready', (perch) => perch.printed(/ready/)],
      ['while the index is made', (_, folder) => appears(`${folder}/answers.db`)],
    ];

  it.each(moments)('ends it %s', async (_, moment) => {
    const folder = `${temporaryFolder()}/data`;
    const perch = serve({ PERCH_DATA_DIR: folder, PERCH_NO_SUCH_VARIABLE: 'x' });
    await moment(perch, folder);

    perch.kill('SIGTERM');
    const ended = await perch.ended;
    const next = serve({ PERCH_DATA_DIR: folder });
    await next.printed(/ready/);

    expect(ended.stderr).not.toMatch(/defect|Error/);
    expect(ended.signal === 'SIGTERM' || ended.code === 0).toBe(true);
  });
});

/** Resolves when there is a file. */
async function appears(path: string): Promise<void> {
  await expect.poll(() => existsSync(path), { interval: 1, timeout: 20_000 }).toBe(true);
}

describe('a second signal', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s ends a server that drains at once, with %i', async (signal, code) => {
    const stuck = await upstream(hang);
    const perch = serve({
      PERCH_PROVIDERS: 'fxtwitter',
      PERCH_FXTWITTER_URL: stuck.url,
      PERCH_SHUTDOWN_GRACE_MS: '60000',
    });
    const url = (await perch.printed(/Server listening at (http:[^"]+)/))[1];
    const left = fetch(`${url}/jack/status/20`).catch(() => 'cut');
    await expect.poll(() => stuck.requests.length).toBeGreaterThan(0);

    perch.kill('SIGTERM');
    await perch.printed(/draining/);
    perch.kill(signal);

    expect(await perch.ended).toMatchObject({ code, signal: null });
    expect(await left).toBe('cut');
  });
});
