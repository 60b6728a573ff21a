import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

function listClientFiles(): readonly string[] {
  const folder = dirname(inject('perchMain'));
  return readdirSync(folder)
    .filter((name) => name.endsWith('.js.map'))
    .filter((name) => {
      const { sources }: { sources: string[] } = JSON.parse(
        readFileSync(join(folder, name), 'utf8'),
      );
      return sources.some((path) => path.includes('/@redis/client/'));
    })
    .map((name) => name.replace(/\.map$/, ''));
}

/** Returns the files of the build that a process has loaded. Node.js writes them at its exit into `folder`. */
function listLoaded(folder: string): readonly string[] {
  const build = dirname(inject('perchMain'));
  const scripts = readdirSync(folder).flatMap((name): { url: string }[] => {
    return JSON.parse(readFileSync(join(folder, name), 'utf8')).result;
  });
  return scripts.filter(({ url }) => url.includes(build)).map(({ url }) => basename(url));
}

/** Address at which no engine listens: port 1 is reserved. */
const absent = 'redis://perch:a-secret-password@127.0.0.1:1';

describe('the client of the shared engine', () => {
  it('is loaded by no server and no command without PERCH_REDIS_URL', async () => {
    const [served, listed, asked] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    const server = spawnPerch(['serve'], { PORT: '0', NODE_V8_COVERAGE: served });
    await server.printed(/Perch is ready/);
    server.kill('SIGTERM');

    const ends = await Promise.all([
      server.ended,
      spawnPerch(['keys', 'list'], { NODE_V8_COVERAGE: listed }).ended,
      spawnPerch(['read', '@ada.example'], { NODE_V8_COVERAGE: asked }).ended,
    ]);

    expect(ends.map(({ code }) => code)).toEqual([0, 3, 0]);
    const clientFiles = listClientFiles();
    expect(clientFiles).not.toEqual([]);
    for (const folder of [served, listed, asked]) {
      const loaded = listLoaded(folder);
      expect(loaded).toContain('main.js');
      expect(loaded.filter((name) => clientFiles.includes(name))).toEqual([]);
    }
  });
});

describe('a start while the shared engine does not answer', () => {
  it('fails with exit code 75 and says what to do, without the password', async () => {
    const folder = temporaryFolder();

    const ended = await spawnPerch(['serve'], {
      PORT: '0',
      PERCH_REDIS_URL: absent,
      NODE_V8_COVERAGE: folder,
    }).ended;

    expect(ended.code).toBe(75);
    expect(ended.stderr).toBe(
      'perch: The shared engine at 127.0.0.1:1 does not answer: connect ECONNREFUSED. Start it, or correct PERCH_REDIS_URL.\n',
    );
    expect(ended.stdout + ended.stderr).not.toContain('a-secret-password');
    const clientFiles = listClientFiles();
    expect(listLoaded(folder).filter((name) => clientFiles.includes(name))).not.toEqual([]);
  });

  it('makes commands for keys fail with exit code 3 and the same message', async () => {
    const ended = await spawnPerch(['keys', 'list'], { PERCH_REDIS_URL: absent }).ended;

    expect(ended).toMatchObject({ code: 3, stdout: '' });
    expect(ended.stderr).toMatch(/^perch: The shared engine at 127\.0\.0\.1:1 does not answer: /);
    expect(ended.stderr).not.toContain('a-secret-password');
  });

  it('names no value of a URL that is not valid', async () => {
    const url = 'redis+tls://:a-secret-password@127.0.0.1';

    const ended = await spawnPerch(['serve'], { PORT: '0', PERCH_REDIS_URL: url }).ended;

    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('PERCH_REDIS_URL');
    expect(ended.stdout + ended.stderr).not.toContain('a-secret-password');
  });
});
