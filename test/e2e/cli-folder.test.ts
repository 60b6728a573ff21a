import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, readdirSync, statSync } from 'node:fs';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { noLoadLimit } from '../support/build-app.ts';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

/** Arguments of each command that needs some. Other commands run without arguments. */
const calls: Readonly<Record<string, readonly string[]>> = {
  serve: ['serve', '--port', '0'],
  read: ['read', '@ada.example'],
  search: ['search', 'harbour', '--platform', 'sample'],
  ask: ['ask', 'What is Perch?'],
  keys: ['keys', 'create', '--label', 'Ada'],
  sessions: ['sessions', 'list'],
  archive: ['archive', 'list'],
  config: ['config'],
  completion: ['completion', 'bash'],
};

it.each(Object.keys(commands))(
  'perch %s leaves nothing in the folder in which it runs',
  async (name) => {
    const [cwd, home] = [temporaryFolder(), temporaryFolder()];
    const child = spawn(process.execPath, [inject('perchMain'), ...(calls[name] ?? [name])], {
      cwd,
      env: { PATH: process.env.PATH ?? '', HOME: home, PERCH_PROVIDERS: 'archive', ...noLoadLimit },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdout.on('data', (text) => {
      if (String(text).includes('Perch is ready')) child.kill('SIGTERM');
    });
    child.stderr.resume();
    const [code, signal] = await once(child, 'close');

    expect(signal).toBeNull();
    if (calls[name] !== undefined) expect(code).toBe(0);
    expect(readdirSync(cwd)).toEqual([]);
  },
);

describe.runIf(process.getuid?.() === 0)('a data folder of another user', () => {
  it('gets only files of that user, also from commands and a server that root runs', async () => {
    const parent = temporaryFolder();
    chownSync(parent, 12_345, 12_346);
    const folder = `${parent}/data`;
    const basics = { PERCH_PROVIDERS: 'archive', PERCH_SESSIONS: 'on', PORT: '0' };
    const env = { ...basics, PERCH_DATA_DIR: folder };

    await spawnPerch(['keys', 'create', '--label', 'Ada'], env).ended;
    await spawnPerch(['read', '@ada.example'], env).ended;
    const server = spawnPerch(['serve'], env);
    await server.printed(/Perch is ready/);

    const names = ['.', ...readdirSync(folder)];
    expect(names).toContain('perch.db');
    expect(names).toContain('session.key');
    expect(names).toContain('sessions.db-wal');
    for (const name of names) {
      const { uid, gid } = statSync(`${folder}/${name}`);
      expect([name, uid, gid]).toEqual([name, 12_345, 12_346]);
    }
  });
});
