import { existsSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { takeSnapshots } from '../../../../src/lib/files/snapshot.ts';
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

const signal = new AbortController().signal;

describe('snapshots of databases', () => {
  it('contain what was written before, and nothing that is written later', async () => {
    const folder = temporaryFolder();
    const [wal, rollback] = [openEntries(folder, 'wal'), openEntries(folder, 'rollback')];
    wal.add('before');
    rollback.add('before');
    const paths = [wal.path, rollback.path];

    const snapshots = await takeSnapshots({ paths, clock: createManualClock(), timeoutMs: 0 });
    onTestFinished(snapshots.close);
    wal.add('after');
    // Without a write-ahead log, writers wait for the copy and readers do not.
    expect(() => rollback.add('after')).toThrow(/locked/);
    expect(rollback.count()).toBe(1);
    await snapshots.copy(rollback.path, { target: `${folder}/rollback.copy`, signal });
    rollback.add('after');
    await snapshots.copy(wal.path, { target: `${folder}/wal.copy`, signal });

    expect([countIn(`${folder}/wal.copy`), countIn(`${folder}/rollback.copy`)]).toEqual([1, 1]);
    expect([wal.count(), rollback.count()]).toEqual([2, 2]);
  });

  it('wait for a writer without locking another database meanwhile', async () => {
    const folder = temporaryFolder();
    const [wal, rollback] = [openEntries(folder, 'wal'), openEntries(folder, 'rollback')];
    const clock = createManualClock();
    rollback.database.exec('BEGIN IMMEDIATE');

    const taking = takeSnapshots({ paths: [wal.path, rollback.path], clock, timeoutMs: 1000 });
    await clock.advance(20);
    wal.add('meanwhile');
    rollback.add('in the transaction');
    rollback.database.exec('COMMIT');
    await clock.advance(20);
    const snapshots = await taking;
    onTestFinished(snapshots.close);
    await snapshots.copy(wal.path, { target: `${folder}/wal.copy`, signal });
    await snapshots.copy(rollback.path, { target: `${folder}/rollback.copy`, signal });

    expect([countIn(`${folder}/wal.copy`), countIn(`${folder}/rollback.copy`)]).toEqual([1, 1]);
  });

  it('are given up after the time limit, and leave no lock', async () => {
    const folder = temporaryFolder();
    const [wal, rollback] = [openEntries(folder, 'wal'), openEntries(folder, 'rollback')];
    const clock = createManualClock();
    rollback.database.exec('BEGIN IMMEDIATE');

    const taking = takeSnapshots({ paths: [wal.path, rollback.path], clock, timeoutMs: 1000 });
    const refused = expect(taking).rejects.toThrow(/^Other processes write to .+ all the time\.$/);
    await clock.advance(1010);
    await refused;
    rollback.database.exec('COMMIT');

    wal.add('afterwards');
    rollback.add('afterwards');
  });

  it('stop a copy when the signal is aborted, and delete it', async () => {
    const folder = temporaryFolder();
    const wal = openEntries(folder, 'wal');
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    const snapshots = await takeSnapshots({
      ...{ paths: [wal.path], clock: createManualClock(), timeoutMs: 0 },
    });
    onTestFinished(snapshots.close);

    const copying = snapshots.copy(wal.path, {
      ...{ target: `${folder}/copy.db`, signal: stop.signal },
    });

    await expect(copying).rejects.toThrow('stopped');
    expect(existsSync(`${folder}/copy.db`)).toBe(false);
  });
});
