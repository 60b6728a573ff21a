import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  makeFolder,
  makePrivateFile,
  makePrivateFolder,
} from '../../../../src/lib/files/private-files.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

const modeOf = (path: string) => statSync(path).mode & 0o777;

/** A dangling link in its own folder. */
function danglingLink(): string {
  const root = temporaryFolder();
  symlinkSync(`${root}/nothing/at/all`, `${root}/link`);
  return `${root}/link`;
}

function emptyFile(): string {
  const path = `${temporaryFolder()}/file`;
  writeFileSync(path, '');
  return path;
}

describe('a folder', () => {
  it('is created with its parents, only for the owner, and only once', () => {
    const root = temporaryFolder();

    makePrivateFolder(`${root}/a/b/c`);
    makePrivateFolder(`${root}/a/b/c`);

    expect(['a', 'a/b', 'a/b/c'].map((name) => modeOf(`${root}/${name}`))).toEqual([
      0o700, 0o700, 0o700,
    ]);
  });

  it('that exists keeps its permissions', () => {
    const root = temporaryFolder();
    mkdirSync(`${root}/a`);
    chmodSync(`${root}/a`, 0o755);

    makePrivateFolder(`${root}/a`);

    expect(modeOf(`${root}/a`)).toBe(0o755);
  });

  it.each([
    ['under /proc', () => '/proc/perch/a/b', 'ENOENT'],
    ['behind a link that leads nowhere', () => `${danglingLink()}/a/b`, 'ENOENT'],
    ['below a file', () => `${emptyFile()}/a`, 'ENOTDIR'],
    ['in the place of a file', emptyFile, 'EEXIST'],
  ])('%s is an immediate error', (_, path, code) => {
    expect(() => makeFolder(path())).toThrow(expect.objectContaining({ code }));
  });
});

describe('a file', () => {
  it('is created only for its owner', () => {
    const path = `${temporaryFolder()}/a`;

    makePrivateFile(path);

    expect(modeOf(path)).toBe(0o600);
  });

  it('that exists keeps its content and loses the access of others', () => {
    const path = `${temporaryFolder()}/a`;
    writeFileSync(path, 'content');
    chmodSync(path, 0o664);

    makePrivateFile(path);

    expect([modeOf(path), readFileSync(path, 'utf8')]).toEqual([0o600, 'content']);
  });
});
