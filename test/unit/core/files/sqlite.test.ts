import { describe, expect, it, onTestFinished } from 'vitest';
import { lockFile } from '../../../../src/core/files/file-lock.ts';
import { openSqlite } from '../../../../src/core/files/sqlite.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

describe('a database', () => {
  it.each([
    ['wal', 'wal', 1],
    ['durable', 'wal', 2],
    ['rollback', 'delete', 3],
  ] as const)('with the journal `%s` is set up as %s, synchronous %i', (journal, mode, level) => {
    const path = `${temporaryFolder()}/a.db`;

    const database = openSqlite({ path, migrations: [], journal });
    onTestFinished(() => void database.close());

    expect(database.prepare('PRAGMA journal_mode').pluck().get()).toBe(mode);
    expect(database.prepare('PRAGMA synchronous').pluck().get()).toBe(level);
  });
});

describe('a locked file', () => {
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
