import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { buildTestApp } from '../support/build-app.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

/** Lists the files of a folder that this process has open. It works on Linux only. */
function openFiles(folder: string): readonly string[] {
  const links = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return []; // the descriptor that was used to read the list
    }
  });
  return links.filter((path) => path.startsWith(folder));
}

describe.runIf(process.platform === 'linux')('an app that cannot be built', () => {
  it.each(['cursor.key', 'archive.db', 'session.key', 'sessions.db', 'sessions.db.lock'])(
    'closes all opened files if %s cannot be opened',
    async (name) => {
      const folder = temporaryFolder();
      mkdirSync(`${folder}/${name}`);
      writeFileSync(`${folder}/${name}/file`, '');
      const env = { PERCH_DATA_DIR: folder, PERCH_SESSIONS: 'on' };

      await expect(buildTestApp({ env, opensArchive: true })).rejects.toThrow();

      expect(openFiles(folder)).toEqual([]);
    },
  );

  it('closes all opened files if the archive is not a database', async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/archive.db`, 'This is a letter, no database. '.repeat(99));

    await expect(
      buildTestApp({ env: { PERCH_DATA_DIR: folder }, opensArchive: true }),
    ).rejects.toThrow();

    expect(openFiles(folder)).toEqual([]);
  });

  it('closes all opened files if a corpus is missing', async () => {
    const folder = temporaryFolder();
    const env = { PERCH_DATA_DIR: folder, PERCH_SESSIONS: 'on', PERCH_CORPUS: '/no/such/corpus' };

    await expect(buildTestApp({ env, opensArchive: true })).rejects.toThrow('/no/such/corpus');

    expect(openFiles(folder)).toEqual([]);
  });
});
