import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  enterDataFolder,
  openIncomplete,
  replaceFiles,
} from '../../../../src/cli/backup/data-folder.ts';
import { seizeDataFolder, shareDataFolder } from '../../../../src/lib/files/file-lock.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

/** Creates a data folder whose restore was killed while the earlier files were set aside. */
function createInterrupted(): string {
  const folder = temporaryFolder();
  const ready = `${folder}/restore.ready`;
  mkdirSync(`${ready}/new`, { recursive: true });
  writeFileSync(`${ready}/archive.db`, 'earlier archive');
  writeFileSync(`${folder}/perch.db`, 'earlier keys');
  writeFileSync(`${folder}/perch.db-journal`, 'earlier journal');
  writeFileSync(`${folder}/cursor.key`, 'earlier secret');
  writeFileSync(`${ready}/new/archive.db`, 'restored archive');
  writeFileSync(`${ready}/new/perch.db`, 'restored keys');
  return folder;
}

const restored = { 'archive.db': 'restored archive', 'perch.db': 'restored keys' };
const earlier = {
  'archive.db': 'earlier archive',
  'cursor.key': 'earlier secret',
  'perch.db': 'earlier keys',
  'perch.db-journal': 'earlier journal',
};

const findEarlier = (folder: string) =>
  readdirSync(folder).filter((name) => name.startsWith('before-restore-'));

function readAll(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'data.lock')
    .map(({ name }) => name)
    .sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(`${folder}/${name}`, 'utf8')]));
}

describe('an interrupted restore', () => {
  it('is finished once, by the first command', () => {
    const folder = createInterrupted();

    const locks = Array.from({ length: 3 }, () => enterDataFolder(folder));
    for (const lock of locks) lock.release();

    const [name, ...others] = findEarlier(folder);
    expect(readAll(folder)).toEqual(restored);
    expect(readAll(`${folder}/${name}`)).toEqual(earlier);
    expect(others).toEqual([]);
    expect(existsSync(`${folder}/restore.ready`)).toBe(false);
  });

  it('is finished if it was killed while the restored files were moved into place', () => {
    const folder = temporaryFolder();
    const ready = `${folder}/restore.ready`;
    mkdirSync(`${ready}/moving`, { recursive: true });
    for (const [name, text] of Object.entries(earlier)) writeFileSync(`${ready}/${name}`, text);
    writeFileSync(`${folder}/archive.db`, 'restored archive');
    writeFileSync(`${ready}/moving/perch.db`, 'restored keys');

    enterDataFolder(folder).release();

    expect(readAll(folder)).toEqual(restored);
    expect(findEarlier(folder).map((name) => readAll(`${folder}/${name}`))).toEqual([earlier]);
    expect(existsSync(ready)).toBe(false);
  });

  it('is not finished while another process uses the folder, which is an error', () => {
    const folder = createInterrupted();
    const lock = shareDataFolder(folder);

    expect(() => enterDataFolder(folder, 0)).toThrow(/was interrupted, and cannot be finished/);
    lock.release();

    expect(readAll(folder)['perch.db']).toBe('earlier keys');
  });

  it('is ignored before the decision if another process uses the folder', () => {
    const folder = temporaryFolder();
    mkdirSync(`${folder}/restore.new`);
    const other = shareDataFolder(folder);

    enterDataFolder(folder, 0).release();
    other.release();
    enterDataFolder(folder).release();

    expect(existsSync(`${folder}/restore.new`)).toBe(false);
  });

  it('keeps the earlier files of each restore in a folder of its own', () => {
    const folder = temporaryFolder();
    const nowMs = Date.UTC(2026, 2, 4, 9, 12);
    const lock = seizeDataFolder(folder);
    const restore = (text: string) => {
      writeFileSync(`${openIncomplete(folder)}/perch.db`, text);
      return replaceFiles(folder, nowMs);
    };

    const folders = ['first', 'second', 'third'].map(restore);
    lock.release();

    const name = `${folder}/before-restore-20260304T091200Z`;
    expect(folders).toEqual([null, name, `${name}-2`]);
    expect(readAll(`${name}-2`)).toEqual({ 'perch.db': 'second' });
    expect(readAll(folder)).toEqual({ 'perch.db': 'third' });
  });
});

describe('a folder that is missing or cannot be written', () => {
  it.each(['/no/such/folder', '/dev/null', '/proc'])('needs no lock: %s', (folder) => {
    expect(() => enterDataFolder(folder).release()).not.toThrow();
  });
});
