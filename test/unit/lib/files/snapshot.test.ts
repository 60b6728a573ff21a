import { mkdirSync, readdirSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { copyDatabases, type SnapshotOptions } from '../../../../src/lib/files/snapshot.ts';
import { openSqlite, type SqliteDatabase } from '../../../../src/lib/files/sqlite.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

type Journal = 'wal' | 'rollback';

function openEntries(folder: string, journal: Journal) {
  const path = `${folder}/${journal}.db`;
  const migrations = [(database: SqliteDatabase) => database.exec('CREATE TABLE entries (text)')];
  const database = openSqlite({ path, migrations, journal, busyMs: 0 });
  onTestFinished(() => void database.close());
  const insert = database.prepare('INSERT INTO entries VALUES (?)');
  const count = database.prepare<[], number>('SELECT count(*) FROM entries').pluck();
  return { path, database, add: (text: string) => void insert.run(text), count: () => count.get() };
}

function countIn(path: string): number | undefined {
  const database = openSqlite({ path, migrations: [() => {}], journal: 'rollback' });
  onTestFinished(() => void database.close());
  return database.prepare<[], number>('SELECT count(*) FROM entries').pluck().get();
}

/** Copies both databases of a folder to its folder `copies`. `onCopy` is called before each copy. */
function copyBoth(folder: string, options: Partial<SnapshotOptions> = {}) {
  mkdirSync(`${folder}/copies`);
  return copyDatabases({
    folder,
    names: ['wal.db', 'rollback.db'],
    target: `${folder}/copies`,
    clock: createManualClock(),
    timeoutMs: 1000,
    signal: new AbortController().signal,
    onCopy: () => {},
    ...options,
  });
}

const countCopied = (folder: string) =>
  ['wal', 'rollback'].map((name) => countIn(`${folder}/copies/${name}.db`));

describe('copies of databases', () => {
  it('contain what was written before, and nothing that is written later', async () => {
    const folder = temporaryFolder();
    const [wal, rollback] = [openEntries(folder, 'wal'), openEntries(folder, 'rollback')];
    wal.add('before');
    rollback.add('before');
    const onCopy = (name: string) => {
      if (name === 'wal.db') for (const one of [wal, rollback]) one.add('after');
      // Without a write-ahead log, writers wait for the copy and readers do not.
      else expect(() => rollback.add('too early')).toThrow(/locked/);
      expect(rollback.count()).toBe(name === 'wal.db' ? 2 : 1);
    };

    await copyBoth(folder, { onCopy });

    expect(countCopied(folder)).toEqual([1, 1]);
    expect([wal.count(), rollback.count()]).toEqual([2, 2]);
  });

  it('wait for a writer without locking another database meanwhile', async () => {
    const folder = temporaryFolder();
    const [wal, rollback] = [openEntries(folder, 'wal'), openEntries(folder, 'rollback')];
    const clock = createManualClock();
    rollback.database.exec('BEGIN IMMEDIATE');

    const copying = copyBoth(folder, { clock });
    await clock.advance(20);
    wal.add('meanwhile');
    rollback.add('in the transaction');
    rollback.database.exec('COMMIT');
    await clock.advance(20);
    await copying;

    expect(countCopied(folder)).toEqual([1, 1]);
  });

  it('are given up after the time limit, and leave no lock', async () => {
    const folder = temporaryFolder();
    const [wal, rollback] = [openEntries(folder, 'wal'), openEntries(folder, 'rollback')];
    const clock = createManualClock();
    rollback.database.exec('BEGIN IMMEDIATE');

    const copying = copyBoth(folder, { clock });
    const refused = expect(copying).rejects.toThrow(/^Other processes write to .+ all the time\.$/);
    await clock.advance(1010);
    await refused;
    rollback.database.exec('COMMIT');

    wal.add('afterwards');
    rollback.add('afterwards');
  });

  it('stop when the signal is aborted, and are deleted', async () => {
    const folder = temporaryFolder();
    openEntries(folder, 'wal');
    openEntries(folder, 'rollback');
    const stop = new AbortController();
    stop.abort(new Error('stopped'));

    await expect(copyBoth(folder, { signal: stop.signal })).rejects.toThrow('stopped');

    expect(readdirSync(`${folder}/copies`)).toEqual([]);
  });
});
