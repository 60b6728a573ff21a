import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { restrictDataFolder } from '../../../../src/lib/files/data-folder.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

const modeOf = (path: string) => statSync(path).mode & 0o7777;

/** A folder with these files, which all users can access. */
function openFolder(names: readonly string[], mode = 0o755): string {
  const folder = `${temporaryFolder()}/data`;
  mkdirSync(folder);
  for (const name of names) {
    writeFileSync(`${folder}/${name}`, '');
    chmodSync(`${folder}/${name}`, 0o644);
  }
  chmodSync(folder, mode);
  return folder;
}

const own = [
  'archive.db',
  'archive.db-wal',
  'archive.db-shm',
  'answers.db',
  'perch.db',
  'perch.db-journal',
  'perch.db.0123456789ab',
  'sessions.db',
  'sessions.db.lock',
  'sessions.db.lock-journal',
  'sessions.db.address',
  'cursor.key',
  'session.key',
  'actor.key',
  'session.key.0123456789ab',
  'data.lock',
];

describe('a data folder', () => {
  it.each([0o755, 0o750, 0o777, 0o710])(
    'with only Perch’s files becomes private, with its files: %o',
    (mode) => {
      const folder = openFolder(own, mode);

      expect(restrictDataFolder(folder)).toBeNull();

      expect(modeOf(folder)).toBe(0o700);
      for (const name of readdirSync(folder)) {
        expect([name, modeOf(`${folder}/${name}`)]).toEqual([name, 0o600]);
      }
    },
  );

  it('that is empty becomes private', () => {
    const folder = openFolder([]);

    expect(restrictDataFolder(folder)).toBeNull();

    expect(modeOf(folder)).toBe(0o700);
  });

  it('with other files keeps its permissions and those of the other files', () => {
    const folder = openFolder([...own, 'letter.txt', 'archive.db.bak'], 0o1777);

    expect(restrictDataFolder(folder)).toMatch(
      /^The data directory .+ also contains files of other programs, so its permissions stay 1777\. Set PERCH_DATA_DIR to .+\.$/,
    );

    expect(modeOf(folder)).toBe(0o1777);
    expect(modeOf(`${folder}/letter.txt`)).toBe(0o644);
    expect(modeOf(`${folder}/archive.db.bak`)).toBe(0o644);
    expect(modeOf(`${folder}/archive.db`)).toBe(0o600);
  });

  it('with other files causes no warning if other users have no access', () => {
    const folder = openFolder([...own, 'letter.txt'], 0o700);

    expect(restrictDataFolder(folder)).toBeNull();
  });

  it.each([':memory:', '/no/such/folder', '/dev/null'])('may be absent: %s', (path) => {
    expect(restrictDataFolder(path)).toBeNull();
  });
});
