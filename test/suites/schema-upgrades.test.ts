import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { keyMigrations } from '../../src/access/keys/key-rows.ts';
import { openKeyStore } from '../../src/access/keys/key-store.ts';
import {
  migrations as answersMigrations,
  openPassageIndex,
} from '../../src/answers/index/passage-index.ts';
import { migrations as archiveMigrations } from '../../src/archive/store/schema.ts';
import { openArchiveStore } from '../../src/archive/store/store.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { packagePath } from '../../src/lib/files/package-path.ts';
import { connectSqlite, type Migration, openSqlite } from '../../src/lib/files/sqlite.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { openArchive } from '../../src/providers/archive/index.ts';
import { sessionMigrations } from '../../src/sessions/store/sqlite-schema.ts';
import { openSqliteSessions } from '../../src/sessions/store/sqlite-store.ts';
import { dumpArchive } from '../support/exports/import-export.ts';
import { openReaderHere } from '../support/reader-here.ts';
import { runHere } from '../support/run-here.ts';
import { withDatabase } from '../support/saved-data.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';
import { ask, baseUrl } from '../unit/archive/store/archive-rig.ts';

const folder = packagePath('test/support/schemas');

/** Migrations of each database, by the name of its file. */
const databases: Readonly<Record<string, readonly Migration[]>> = {
  archive: archiveMigrations,
  perch: keyMigrations,
  sessions: sessionMigrations,
  answers: answersMigrations,
};

/** Schema version of a database that Perch had at some time, with test data in `test/support/schemas`. */
interface Version {
  readonly name: string;
  readonly schema: number;
}

const versions: readonly Version[] = Object.entries(databases).flatMap(([name, migrations]) =>
  migrations.map((_, index) => ({ name, schema: index + 1 })),
);

/** Creates a database with an earlier schema and its test data, as `NAME.db` in an empty folder. */
function createOld({ name, schema }: Version) {
  const data = temporaryFolder();
  const path = `${data}/${name}.db`;
  const database = connectSqlite({ path });
  database.exec(readFileSync(`${folder}/${name}-${schema}.sql`, 'utf8'));
  database.close();
  return { data, path };
}

/** Opens and closes a database as a server does, which migrates it. */
const migrate: Readonly<Record<string, (path: string) => void>> = {
  archive: (path) => openArchiveStore(path, baseUrl).close(),
  perch: (path) => openKeys(path).close(),
  sessions: (path) => void openSessions(path).close(),
  answers: (path) => openPassageIndex(path).close(),
};

function openKeys(path: string) {
  return openKeyStore({ path, clock: systemClock, random: systemRandom });
}

function openSessions(path: string) {
  return openSqliteSessions({ path, stamp: (index) => ({ id: `evt_${index}`, atMs: 0, index }) });
}

function readSchema(path: string): readonly string[] {
  const select = `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name`;
  const statements = withDatabase(path, (database) =>
    database.prepare<[], string>(select).pluck().all(),
  );
  return statements.map((sql) => sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' '));
}

/** Returns the schema that the first migrations create in an empty database. */
function createSchema({ name, schema }: Version): readonly string[] {
  const path = `${temporaryFolder()}/new.db`;
  openSqlite({ path, migrations: databases[name]?.slice(0, schema) ?? [] }).close();
  return readSchema(path);
}

type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** Returns the rows of all tables that have not been created by SQLite itself. */
function readRows(path: string): Rows {
  return withDatabase(path, (database) => {
    const tables = database
      .prepare<[], string>("SELECT name FROM pragma_table_list WHERE type = 'table'")
      .pluck()
      .all()
      .filter((name) => !name.startsWith('sqlite_'));
    const read = (name: string) =>
      database.prepare<[], Record<string, unknown>>(`SELECT * FROM ${name} ORDER BY 1`).all();
    return Object.fromEntries(tables.map((name) => [name, read(name)]));
  });
}

/** Keeps the columns of `rows` that `like` has too. */
function withColumnsOf(rows: Rows, like: Rows): Rows {
  const tables = Object.entries(like).map(([name, [first]]) => {
    const columns = Object.keys(first ?? {});
    const kept = rows[name]?.map((row) =>
      Object.fromEntries(columns.map((column) => [column, row[column]])),
    );
    return [name, kept ?? []];
  });
  return Object.fromEntries(tables);
}

/** Tables and rows that a migration removes on purpose; the test data of the other versions is kept completely. */
function withoutRemoved(rows: Rows, { name, schema }: Version): Rows {
  // The first archives contained only the sample, which is stored again.
  if (name === 'archive' && schema === 1) {
    return { facts: rows.facts?.filter(({ name: fact }) => fact !== 'sample_version') ?? [] };
  }
  // The third schema of the index has another column for names, so documents are read again.
  if (name === 'answers' && schema < 3) return {};
  if (name !== 'sessions' || schema > 1) return rows;
  // The second schema counts sessions in `holders` instead.
  const { tally: _, ...kept } = rows;
  return kept;
}

it('test data exists for every schema version, and for no other', () => {
  const expected = versions.map(({ name, schema }) => `${name}-${schema}.sql`);

  expect(readdirSync(folder).sort()).toEqual(expected.sort());
});

describe.each(versions)('the database $name with schema $schema', (version) => {
  it('has the schema that the published migrations create', () => {
    const { path } = createOld(version);

    expect(readSchema(path)).toEqual(createSchema(version));
  });

  it('is migrated to the schema of a new database, and keeps its data', () => {
    const { path } = createOld(version);
    const before = withoutRemoved(readRows(path), version);
    const newest = databases[version.name]?.length ?? 0;

    migrate[version.name]?.(path);

    expect(readSchema(path)).toEqual(createSchema({ ...version, schema: newest }));
    expect(withColumnsOf(readRows(path), before)).toEqual(before);
    const readVersion = (database: ReturnType<typeof connectSqlite>) =>
      database.prepare('PRAGMA user_version').pluck().get();
    expect(withDatabase(path, readVersion)).toBe(newest);
  });
});

const ofName = (name: string) => versions.filter((one) => one.name === name);

describe.each(ofName('archive').filter(({ schema }) => schema > 1))(
  'an archive with schema $schema',
  (version) => {
    it('has the same accounts and posts, and finds them', async () => {
      const { path } = createOld(version);
      const archive = openArchive({
        path,
        sample: false,
        baseUrl,
        clock: systemClock,
        openReader: openReaderHere,
      });
      onTestFinished(() => archive.close?.());
      const newest = createOld({ name: 'archive', schema: archiveMigrations.length });

      const found = await ask(archive).search('lantern');

      expect(found.items.map(({ id }) => id)).toContain('880000005033164800');
      expect((await ask(archive).followers('wren_example')).items).toHaveLength(2);
      const [store, same] = [path, newest.path].map((one) => openArchiveStore(one, baseUrl));
      expect(store && dumpArchive(store)).toEqual(same && dumpArchive(same));
      expect(store && dumpArchive(store).length).toBeGreaterThan(5);
      store?.close();
      same?.close();
    });
  },
);

describe.each(ofName('perch'))('keys with schema $schema', (version) => {
  it('are valid', async () => {
    const keys = openKeys(createOld(version).path);
    onTestFinished(() => keys.close());

    const checked = keys.check(`perch_${'A'.repeat(43)}`);

    expect(checked).toEqual({ status: 'valid', id: '0123456789ab', allowance: 1200 });
    expect((await keys.list()).map(({ label, enabled }) => [label, enabled])).toEqual([
      ['Old bot', false],
      ['Weather bot', true],
    ]);
  });
});

describe.each(ofName('sessions'))('sessions with schema $schema', (version) => {
  it('are listed and printed', async () => {
    const { data } = createOld(version);

    const listed = await runHere(['sessions', 'list', '--json'], { PERCH_DATA_DIR: data });
    const { id } = JSON.parse(listed.stdout);
    const shown = await runHere(['sessions', 'show', id], { PERCH_DATA_DIR: data });

    expect(JSON.parse(listed.stdout)).toMatchObject({ state: 'waiting', turns: 2, waiting: 0 });
    expect(shown.stdout).toMatch(/> What is a heron\?.+> And a wren\?/s);
  });

  it('are counted', async () => {
    const store = openSessions(createOld(version).path);

    expect(await store.countLive()).toBe(1);
    expect(await store.countStored()).toBeGreaterThan(1000);
    await store.close();
  });
});

describe('a database of a newer version', () => {
  /** Creates a database with the newest schema, whose version is one greater. */
  const createNewer = (name: string) => {
    const created = createOld({ name, schema: databases[name]?.length ?? 0 });
    const next = (databases[name]?.length ?? 0) + 1;
    withDatabase(created.path, (database) => database.exec(`PRAGMA user_version = ${next}`));
    return created;
  };

  it.each([
    ['archive', ['archive', 'list']],
    ['archive', ['read', '@ada.example']],
    ['sessions', ['sessions', 'list']],
    ['archive', ['backup', 'unused.zip']],
    ['perch', ['backup', 'unused.zip']],
  ])('%s.db is refused by perch %j', async (name, args) => {
    const { data, path } = createNewer(name);
    const rows = readRows(path);

    const refused = await runHere(args, { PERCH_DATA_DIR: data });

    expect(refused.stderr).toMatch(
      /\.db was written by a newer version of Perch \(schema \d\)\. Install that version or a later one\./,
    );
    expect(refused.code).toBeGreaterThan(0);
    expect(readRows(path)).toEqual(rows);
  });

  it('perch.db is refused by perch keys', async () => {
    const { data } = createNewer('perch');

    const refused = await runHere(['keys', 'list'], { PERCH_DATA_DIR: data });

    expect(refused.stderr).toMatch(
      /was written by a newer version of Perch \(schema 2\)\. Install that version/,
    );
    expect(refused.code).toBe(3);
  });

  it.each(['archive', 'sessions'])('%s.db is refused by perch serve', async (name) => {
    const { data } = createNewer(name);

    const refused = await runHere(['serve', '--port', '0'], { PERCH_DATA_DIR: data });

    expect(refused.code).toBe(75);
    expect(refused.stderr).toMatch(/^perch: \S+\.db was written by a newer version of Perch/);
  });

  it('answers.db is created again, because it can be', () => {
    const { path } = createNewer('answers');

    const index = openPassageIndex(path);
    onTestFinished(() => index.close());

    expect(index.totals().files).toBe(0);
  });
});
