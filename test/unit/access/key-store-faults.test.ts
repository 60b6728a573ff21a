import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createKey, hashKey } from '../../../src/access/keys/key-record.ts';
import { keyMigrations, openKeyRows } from '../../../src/access/keys/key-rows.ts';
import { connectSqlite, openSqlite } from '../../../src/lib/files/sqlite.ts';
import { Problem } from '../../../src/lib/problem.ts';
import { systemRandom } from '../../../src/lib/random.ts';
import { clause } from '../../support/clause.ts';
import { type KeyRig, lockFromOutside, openKeyRig } from '../../support/key-rig.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/spawn-perch.ts';

const statements = vi.hoisted((): unknown[] => []);

vi.mock('../../../src/lib/files/sqlite.ts', async (load) => {
  const actual = await load<typeof import('../../../src/lib/files/sqlite.ts')>();
  const connectSqlite = vi.fn((...location: Parameters<typeof actual.connectSqlite>) => {
    const database = actual.connectSqlite(...location);
    const { prepare } = database;
    const prepareAndNote = (sql: string) => {
      const statement = prepare(sql);
      statements.push(statement);
      return statement;
    };
    return Object.assign(database, { prepare: prepareAndNote });
  });
  return { ...actual, connectSqlite, openSqlite: vi.fn(actual.openSqlite) };
});

const connections = vi.mocked(connectSqlite);
const creations = vi.mocked(openSqlite);

/** Removes references to the created SQLite objects, which are never freed (docs/decisions/0011). */
function startCounting(): void {
  connections.mockClear();
  statements.length = 0;
}

function expectFewObjects(): void {
  expect(connections.mock.calls.length).toBeLessThanOrEqual(1);
  expect(statements.length).toBeLessThanOrEqual(10);
}

beforeEach(startCounting);

const unknownKey = `perch_${'u'.repeat(43)}`;

interface Fault {
  readonly name: string;
  /** Fault that the store reports. */
  readonly told: string;
  strike(path: string): void;
}

/** Overwrites a part of a file in place, as a failing disk or a wrong command would. */
function overwrite(path: string, from: number, bytes: (size: number) => Buffer): void {
  const content = readFileSync(path);
  bytes(content.length - from).copy(content, from);
  writeFileSync(path, content, { flag: 'r+' });
}

const pageBytes = 4096;

const faults: readonly Fault[] = [
  { name: 'deleted', told: 'missing', strike: (path) => rmSync(path) },
  {
    name: 'deleted with its folder',
    told: 'missing',
    strike: (path) => rmSync(path.replace(/\/[^/]+$/, ''), { recursive: true }),
  },
  { name: 'truncated to nothing', told: 'empty', strike: (path) => truncateSync(path, 0) },
  {
    name: 'truncated to half',
    told: 'damaged',
    strike: (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
  },
  {
    name: 'cut by a few bytes',
    told: 'damaged',
    strike: (path) => truncateSync(path, statSync(path).size - pageBytes),
  },
  {
    name: 'filled with garbage',
    told: 'damaged',
    strike: (path) => writeFileSync(path, randomBytes(50_000)),
  },
  {
    name: 'garbage after its header',
    told: 'damaged',
    strike: (path) => overwrite(path, 100, (size) => Buffer.alloc(size, 0xa5)),
  },
  {
    name: 'garbage after its first page',
    told: 'damaged',
    strike: (path) => overwrite(path, pageBytes, (size) => Buffer.alloc(size, 0xa5)),
  },
  {
    name: 'zeros after its first page',
    told: 'damaged',
    strike: (path) => overwrite(path, pageBytes, (size) => Buffer.alloc(size)),
  },
  {
    name: 'replaced by a directory',
    told: 'not_a_file',
    strike: (path) => {
      rmSync(path);
      mkdirSync(path);
    },
  },
  {
    name: 'replaced by a text',
    told: 'damaged',
    strike: (path) => {
      rmSync(path);
      writeFileSync(path, 'keys? no');
    },
  },
  {
    name: 'replaced by a database without tables',
    told: 'damaged',
    strike: (path) => makeDatabase(path, () => {}),
  },
  {
    name: 'replaced by a database of something else',
    told: 'damaged',
    strike: (path) => makeDatabase(path, (database) => database.exec('CREATE TABLE a (b)')),
  },
  {
    name: 'replaced by a database of no version',
    told: 'damaged',
    strike: (path) => {
      rmSync(path);
      connectSqlite({ path }).exec('CREATE TABLE a (b)').close();
    },
  },
  {
    name: 'replaced by a link to itself',
    told: 'unreadable',
    strike: (path) => {
      rmSync(path);
      symlinkSync(path, path);
    },
  },
];

function makeDatabase(path: string, fill: Parameters<typeof openSqlite>[0]['migrations'][number]) {
  rmSync(path);
  openSqlite({ path, migrations: [fill], journal: 'rollback' }).close();
}

/** A store with keys on several pages, one of them known, and a function that restores it. */
function openFilled(): KeyRig & { readonly key: string; repair(): void } {
  const folder = temporaryFolder();
  const path = `${folder}/data/perch.db`;
  const key = createKey(systemRandom);
  const copy = `${folder}/copy.db`;
  fill(copy, key);
  const repair = () => {
    mkdirSync(`${folder}/data`, { recursive: true });
    rmSync(path, { recursive: true, force: true });
    copyFileSync(copy, path);
  };
  repair();
  return { ...openKeyRig({ path }), key, repair };
}

function fill(path: string, key: string): void {
  const database = openSqlite({ path, migrations: keyMigrations, journal: 'rollback' });
  const rows = openKeyRows(database);
  const common = { enabled: true, allowance: null, lastUsedMs: null, notes: 'n'.repeat(100) };
  const insertAll = database.transaction(() => {
    const known = { ...common, id: 'a'.repeat(12), label: 'known', createdMs: 0 };
    rows.insert({ hash: hashKey(key), record: known });
    for (let number = 1; number <= 60; number += 1) {
      const id = String(number).padStart(12, '0');
      const record = { ...common, id, label: `key ${number}`, createdMs: number };
      rows.insert({ hash: hashKey(id), record });
    }
  });
  insertAll();
  database.close();
}

describe('a store that is damaged while it is open', () => {
  clause('read.key_status.unverified').each(faults)(
    'verifies nothing while it is $name, and works again by itself',
    async ({ strike, told }) => {
      const rig = openFilled();
      expect(await rig.checkNext(rig.key)).toBe('valid');

      strike(rig.path);
      for (const key of [rig.key, unknownKey, rig.key]) {
        expect(await rig.checkNext(key)).toBe('unverified');
        expect(await rig.checkLater(key)).toBe('unverified');
      }
      rig.repair();

      // The store failed within the second, so nobody asks it yet.
      expect(await rig.checkNext(rig.key)).toBe('unverified');
      expect(await rig.checkLater(rig.key)).toBe('valid');
      expect(await rig.checkNext(unknownKey)).toBe('invalid');
      expect(rig.told).toEqual([told, 'recovered']);
    },
  );

  it.each(faults)('is not reopened on every request while it is $name', async ({ strike }) => {
    const rig = openFilled();
    strike(rig.path);
    startCounting();

    for (let tries = 0; tries < 50; tries += 1) await rig.checkLater(rig.key);

    expectFewObjects();
  });

  it.each(faults)(
    'is not reopened on every request after a start while $name',
    async ({ strike }) => {
      const { path } = openFilled();
      strike(path);
      const rig = openKeyRig({ path, whenMissing: 'wait' });
      startCounting();

      for (let tries = 0; tries < 50; tries += 1) await rig.checkLater(unknownKey);

      expectFewObjects();
    },
  );
});

describe('a store that was damaged before the start', () => {
  it.each(faults.filter(({ told }) => told !== 'missing'))(
    'does not prevent the start, and is not changed: $name',
    async ({ strike, told }) => {
      const filled = openFilled();
      filled.store.close();
      strike(filled.path);

      const rig = openKeyRig({ path: filled.path });

      expect(rig.told).toEqual([told]);
      expect(await rig.checkNext(filled.key)).toBe('unverified');
      filled.repair();
      expect(await rig.checkLater(filled.key)).toBe('valid');
      expect(rig.told).toEqual([told, 'recovered']);
    },
  );

  it('is created if it is missing, unless the option says to wait', async () => {
    const path = `${temporaryFolder()}/perch.db`;

    const waiting = openKeyRig({ path, whenMissing: 'wait' });
    expect(waiting.told).toEqual(['missing']);
    expect(existsSync(path)).toBe(false);
    openKeyRig({ path });

    expect(await waiting.checkLater(unknownKey)).toBe('invalid');
  });

  it('cannot be created if its folder is a file, which does not prevent the start', () => {
    const folder = `${temporaryFolder()}/file`;
    writeFileSync(folder, '');

    const { store, told } = openKeyRig({ path: `${folder}/perch.db` });

    expect(told).toEqual(['unreadable']);
    expect(store.check(unknownKey)).toEqual({ status: 'unverified' });
  });

  it('is not opened if a newer version wrote it', () => {
    const path = `${temporaryFolder()}/perch.db`;
    openSqlite({ path, migrations: [() => {}, () => {}], journal: 'rollback' }).close();

    expect(() => openKeyRig({ path })).toThrow(
      `${path} was written by a newer version of Perch (schema 2).`,
    );
  });
});

describe('another file in the place of the store', () => {
  it('is used from the next request, with its keys', async () => {
    const rig = openKeyRig();
    const other = openKeyRig();
    const { key } = await rig.store.create({ label: 'a' });
    const { key: otherKey } = await other.store.create({ label: 'b' });
    expect(await rig.checkNext(key)).toBe('valid');

    renameSync(other.path, rig.path);

    expect(await rig.checkNext(key)).toBe('invalid');
    expect(await rig.checkNext(otherKey)).toBe('valid');
    await rig.store.create({ label: 'c' });
    expect((await rig.store.list()).map(({ label }) => label).sort()).toEqual(['b', 'c']);
    expect(rig.told).toEqual([]);
  });

  it('is used if its bytes are written over the old file', async () => {
    const rig = openFilled();
    const { record } = await rig.store.create({ label: 'later' });
    const content = readFileSync(rig.path);
    await rig.store.remove(record.id);

    writeFileSync(rig.path, content);

    expect((await rig.store.list()).map(({ label }) => label)).toContain('later');
    expect(await rig.checkNext(rig.key)).toBe('valid');
  });

  it.each(['garbage', 'no version'])(
    'is used if its bytes are written over a file of %s',
    async (kind) => {
      const rig = openFilled();
      const content = readFileSync(rig.path);
      await rig.checkNext(rig.key);
      if (kind === 'garbage') overwrite(rig.path, 0, (size) => Buffer.alloc(size, 0xa5));
      else overwrite(rig.path, 60, () => Buffer.alloc(4));
      const again = openKeyRig({ path: rig.path });
      expect(await again.checkNext(rig.key)).toBe('unverified');

      overwrite(rig.path, 0, () => content);

      expect(await again.checkLater(rig.key)).toBe('valid');
      expect(again.told).toEqual(['damaged', 'recovered']);
    },
  );
});

describe('a store that another process has locked', () => {
  it('verifies no keys after a second until the lock is released, on the same connection', async () => {
    const rig = openFilled();
    expect(await rig.checkNext(rig.key)).toBe('valid');
    const release = await lockFromOutside(rig.path);
    connections.mockClear();

    expect(await rig.checkLater(rig.key)).toBe('valid');
    for (let tries = 0; tries < 5; tries += 1) {
      expect(await rig.checkLater(rig.key)).toBe('unverified');
    }
    await release();

    expect(await rig.checkNext(rig.key)).toBe('unverified');
    expect(await rig.checkLater(rig.key)).toBe('valid');
    expect(rig.told).toEqual(['locked', 'recovered']);
    expect(connections).not.toHaveBeenCalled();
  });

  it('keeps the status of known keys for a brief lock, and follows the change within 50 ms', async () => {
    const rig = openFilled();
    expect(await rig.checkNext(rig.key)).toBe('valid');
    const release = await lockFromOutside(rig.path);

    expect(await rig.checkNext(rig.key)).toBe('valid');
    await rig.clock.advance(900);
    expect(await rig.checkNext(rig.key)).toBe('valid');
    expect(await rig.checkNext(unknownKey)).toBe('unverified');
    await release();
    const other = openKeyRig({ path: rig.path });
    for (const { id } of await other.store.list()) await other.store.change(id, { enabled: false });
    await rig.clock.advance(50);

    expect(await rig.checkNext(rig.key)).toBe('invalid');
    expect(rig.told).toEqual([]);
  });

  it('can be locked at the start', async () => {
    const filled = openFilled();
    filled.store.close();
    const release = await lockFromOutside(filled.path);

    const rig = openKeyRig({ path: filled.path });
    connections.mockClear();
    for (let tries = 0; tries < 5; tries += 1) await rig.checkLater(filled.key);
    expect(rig.told).toEqual(['locked']);
    await release();

    expect(await rig.checkLater(filled.key)).toBe('valid');
    expect(connections).not.toHaveBeenCalled();
  });

  it('makes changes wait for the lock, and refuses them after 2 s', async () => {
    const rig = openFilled();
    const release = await lockFromOutside(rig.path);

    const refused = rig.store.create({ label: 'too early' }).catch((error: unknown) => error);
    await rig.clock.advance(1999);
    await rig.clock.advance(25);
    const problem = await refused;
    const waiting = rig.store.create({ label: 'waiting' });
    await release();
    await rig.clock.advance(25);
    const { key } = await waiting;

    expect(problem).toBeInstanceOf(Problem);
    expect(problem).toMatchObject({
      code: 'key_store_unavailable',
      message: expect.stringContaining('has locked the key store'),
    });
    expect(await rig.checkNext(key)).toBe('valid');
    const labels = (await rig.store.list()).map(({ label }) => label);
    expect(labels).toContain('waiting');
    expect(labels).not.toContain('too early');
  });

  it('stores times of last use later', async () => {
    const rig = openFilled();
    expect(await rig.checkNext(rig.key)).toBe('valid');
    const usedMs = rig.clock.now();
    const release = await lockFromOutside(rig.path);

    await rig.clock.advance(60_000);
    await release();
    await rig.clock.advance(60_000);

    const [known] = await rig.store.list();
    expect(known).toMatchObject({ label: 'known', lastUsedMs: usedMs });
  });
});

async function rejectionOf<Thrown>(promise: Promise<unknown>): Promise<Thrown> {
  return promise.then(
    () => expect.unreachable(),
    (error) => error,
  );
}

describe('a change by the operator in a store that cannot be used', () => {
  it.each(faults)('fails with the fault and advice: $name', async ({ strike, told }) => {
    const rig = openFilled();
    const [first] = await rig.store.list();
    strike(rig.path);

    const id = first?.id ?? '';
    const acts = [
      () => rig.store.list(),
      () => rig.store.change(id, { enabled: false }),
      () => rig.store.remove(id),
      () => rig.store.rotate(id),
    ];
    for (const act of acts) {
      const problem = await rejectionOf<Problem>(act());
      expect(problem).toMatchObject({ code: 'key_store_unavailable', status: 503 });
      expect(problem.message).toMatch(/^[A-Z].*`perch\.db`.*\. [A-Z].*[.)]$/);
      expect(problem.message).not.toContain(rig.path);
    }

    const created = await rig.store.create({ label: 'new' }).catch((error: unknown) => error);
    if (told === 'missing' || told === 'empty') {
      // Asked for, a new store is made, and reads use it at once.
      expect((await rig.store.list()).map(({ label }) => label)).toEqual(['new']);
      expect(await rig.checkNext(rig.key)).toBe('invalid');
    } else {
      expect(created).toMatchObject({ code: 'key_store_unavailable' });
    }
  });

  it('creates a new store that the journal of the old one does not affect', async () => {
    const rig = openFilled();
    const journal = readHotJournal(rig.path);
    rmSync(rig.path);
    writeFileSync(`${rig.path}-journal`, journal);

    const { key } = await rig.store.create({ label: 'new' });

    expect(await rig.checkNext(key)).toBe('valid');
    expect((await rig.store.list()).map(({ label }) => label)).toEqual(['new']);
    expect(existsSync(`${rig.path}-journal`)).toBe(false);
  });

  it('creates no store if another process was first, and does not disturb its transaction', async () => {
    const path = `${temporaryFolder()}/perch.db`;
    const first = openKeyRig({ path: `${path}.first` });
    await first.store.create({ label: 'first' });
    const began: ReturnType<typeof connectSqlite>[] = [];
    creations.mockImplementationOnce((options) => {
      renameSync(`${path}.first`, path);
      const database = connectSqlite({ path });
      database.exec("BEGIN IMMEDIATE; UPDATE keys SET label = 'changed'");
      began.push(database);
      return openSqlite(options);
    });

    const rig = openKeyRig({ path });

    expect(existsSync(`${path}-journal`)).toBe(true);
    began.forEach((database) => void database.exec('COMMIT').close());
    expect((await rig.store.list()).map(({ label }) => label)).toEqual(['changed']);
    expect(rig.told).toEqual([]);
  });
});

/** Returns the journal that a crash during a large change would leave. */
function readHotJournal(path: string): Buffer {
  const database = connectSqlite({ path });
  onTestFinished(() => void database.close());
  database.exec("BEGIN IMMEDIATE; UPDATE keys SET notes = notes || 'x'");
  const journal = readFileSync(`${path}-journal`);
  // A journal begins so once it is synced; the count stands for all the records that there are.
  journal.write('d9d505f920a163d7ffffffff', 'hex');
  database.exec('ROLLBACK');
  return journal;
}

describe('a backup that is copied over the store', () => {
  it('is used from the next request, also if both have the same SQLite change counter', async () => {
    const rig = openKeyRig();
    const { record, key } = await rig.store.create({ label: 'Ada' });
    const copy = `${rig.path}.copy`;
    copyFileSync(rig.path, copy);
    const other = openKeyRig({ path: copy });
    await other.store.change(record.id, { enabled: false });
    other.store.close();
    await rig.store.change(record.id, { notes: 'one change here too' });
    expect(await rig.checkNext(key)).toBe('valid');

    copyFileSync(copy, rig.path);

    expect(await rig.checkNext(key)).toBe('invalid');
  });

  it('and the store are readable only by their owner', async () => {
    const rig = openKeyRig();

    expect(statSync(rig.path).mode & 0o777).toBe(0o600);
  });
});

describe('a cached key', () => {
  /** Opens a store that caches keys immediately, because no change is recent for its clock. */
  async function remember() {
    const rig = openKeyRig({ clock: createManualClock(Date.now() + 3_600_000) });
    const { key, record } = await rig.store.create({ label: 'a' });
    await rig.checkNext(key);
    // What follows gets another time of the file.
    await sleep(20);
    return { ...rig, key, record };
  }

  it('is read again after 100 ms, so that a lock is noticed', async () => {
    const { key, path, checkNext, clock, told } = await remember();

    const unlock = await lockFromOutside(path);

    expect(await checkNext(key)).toBe('valid');
    expect(told).toEqual([]);
    await clock.advance(100);
    expect(await checkNext(key)).toBe('valid');
    await clock.advance(1000);
    expect(await checkNext(key)).toBe('unverified');
    expect(told).toEqual(['locked']);
    await unlock();
  });

  it.each(faults)('is not used if the file is $name', async ({ strike, told }) => {
    const rig = await remember();

    strike(rig.path);

    expect(await rig.checkNext(rig.key)).toBe('unverified');
    expect(rig.told).toEqual([told]);
  });

  it('follows changes of another process at the next check', async () => {
    const { key, record, path, checkNext } = await remember();
    const other = openKeyRig({ path });

    await other.store.change(record.id, { enabled: false });
    expect(await checkNext(key)).toBe('invalid');
    await sleep(20);
    await other.store.change(record.id, { enabled: true });
    expect(await checkNext(key)).toBe('valid');
    await sleep(20);
    await other.store.remove(record.id);
    expect(await checkNext(key)).toBe('invalid');
  });

  it('is read again if a change may have the same timestamp as another', async () => {
    const { store, path, checkNext, checkLater } = openKeyRig({
      clock: createManualClock(Date.now()),
    });
    const { key } = await store.create({ label: 'a' });
    await checkNext(key);

    const unlock = await lockFromOutside(path);

    expect(await checkNext(key)).toBe('valid'); // the lock is noticed, but brief
    expect(await checkLater(key)).toBe('unverified');
    await unlock();
  });
});
