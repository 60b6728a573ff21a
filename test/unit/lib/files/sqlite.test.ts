import { describe, expect, it, onTestFinished } from 'vitest';
import { lockFile } from '../../../../src/lib/files/file-lock.ts';
import { copySqlite, openSqlite } from '../../../../src/lib/files/sqlite.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

describe('a database', () => {
  it.each([
    ['wal', 'wal', 1],
    ['rollback', 'delete', 3],
  ] as const)('with the journal `%s` is set up as %s, synchronous %i', (journal, mode, level) => {
    const path = `${temporaryFolder()}/a.db`;

    const database = openSqlite({ path, migrations: [], journal });
    onTestFinished(() => void database.close());

    expect(database.prepare('PRAGMA journal_mode').pluck().get()).toBe(mode);
    expect(database.prepare('PRAGMA synchronous').pluck().get()).toBe(level);
  });
});

describe('a copy of a database', () => {
  it('keeps the native object of the package, which must not be collected', async () => {
    const folder = temporaryFolder();
    const database = openSqlite({ path: `${folder}/a.db`, migrations: [] });
    onTestFinished(() => void database.close());

    const { signal } = new AbortController();
    await copySqlite(database, 'main', { path: `${folder}/copy.db`, signal });

    const members = Object.getOwnPropertySymbols(database).map((symbol) =>
      Reflect.get(database, symbol),
    );
    // A release of better-sqlite3 that hides its objects elsewhere must fail here.
    expect(members.some((member) => Object.hasOwn(member, 'backup'))).toBe(true);
  });
});

describe('a locked file', () => {
  it('can be shared, and then cannot be locked exclusively', () => {
    const path = `${temporaryFolder()}/a.lock`;

    const locks = [lockFile(path, 'shared'), lockFile(path, 'shared')];
    expect(() => lockFile(path)).toThrow(/Another process has locked/);
    for (const lock of locks) lock.release();
    const alone = lockFile(path);
    onTestFinished(() => alone.release());

    expect(() => lockFile(path, 'shared')).toThrow(/Another process has locked/);
  });

  it('cannot be locked again until it is released', () => {
    const path = `${temporaryFolder()}/folder/a.lock`;

    const first = lockFile(path);
    expect(() => lockFile(path)).toThrow(/Another process has locked/);
    first.release();
    const second = lockFile(path);
    onTestFinished(() => second.release());

    expect(() => lockFile(path)).toThrow(/Another process has locked/);
  });
});
