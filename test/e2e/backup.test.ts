import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { openKeyStore } from '../../src/access/keys/key-store.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { isOwnName, savedFiles } from '../../src/lib/files/data-folder.ts';
import { lockFile } from '../../src/lib/files/file-lock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { writeZip } from '../support/exports/zip.ts';
import { type RanHere, runHere } from '../support/run-here.ts';
import { listLeftovers, readSavedData, withDatabase, writeData } from '../support/saved-data.ts';
import { type PerchProcess, spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

const modeOf = (path: string) => statSync(path).mode & 0o777;

/** Creates a folder with a data folder `data` whose contents contain `mark`. Returns functions to run commands on it. */
function openRig(mark = 'first') {
  const root = temporaryFolder();
  const data = join(root, 'data');
  mkdirSync(data);
  writeData(data, mark);
  const run = (...args: readonly string[]): Promise<RanHere> =>
    runHere(args, { PERCH_DATA_DIR: data });
  return { root, data, backup: join(root, 'backup.zip'), run };
}

type Rig = ReturnType<typeof openRig>;

/** Starts a server and waits until it is ready. Returns its process and its address. */
async function serve(data: string, env: Record<string, string> = {}) {
  const server = spawnPerch(['serve', '--port', '0'], { PERCH_DATA_DIR: data, ...env });
  await server.printed(/Perch is ready/);
  return server;
}

async function stop(server: PerchProcess): Promise<void> {
  server.kill('SIGTERM');
  expect((await server.ended).code).toBe(0);
}

describe('perch backup', () => {
  it('copies the data of a running server, which perch restore restores elsewhere', async () => {
    const { root, data, backup, run } = openRig();
    const other = join(root, 'other');
    const server = await serve(data);
    const made = await run('keys', 'create', '--label', 'Ada');

    const before = readSavedData(data);
    const backedUp = await run('backup', backup);
    const after = readSavedData(data);
    const restored = await runHere(['restore', backup], { PERCH_DATA_DIR: other });
    await stop(server);

    expect(backedUp).toMatchObject({ code: 0, stderr: '' });
    expect(backedUp.stdout).toMatch(
      /^Backed up \S+ to \S+backup\.zip \(\d\.\d MB\): archive\.db, perch\.db, sessions\.db, cursor\.key, session\.key, actor\.key\n$/,
    );
    expect(restored).toMatchObject({ code: 0, stderr: '' });
    expect(restored.stdout).toMatch(/^Restored .+ \(made at .+Z by Perch [\d.]+\)\n$/);
    expect(modeOf(backup)).toBe(0o600);
    expect(readdirSync(root).sort()).toEqual(['backup.zip', 'data', 'other']);
    expect(modeOf(other)).toBe(0o700);
    for (const name of savedFiles) expect(modeOf(`${other}/${name}`)).toBe(0o600);
    // The server can write a row of its own at any time.
    expect([before, after]).toContainEqual(readSavedData(other));
    const options = { path: `${other}/perch.db`, clock: systemClock, random: systemRandom };
    const keys = openKeyStore(options);
    onTestFinished(() => keys.close());
    expect(keys.check(made.stdout.trim()).status).toBe('valid');
  });

  it('writes to standard output', async () => {
    const { data, root, backup } = openRig();

    const { status, stderr } = spawnSync(
      'sh',
      ['-c', '"$0" "$1" backup - > "$2"', process.execPath, inject('perchMain'), backup],
      { env: { PATH: process.env.PATH, PERCH_DATA_DIR: data, TMPDIR: root }, encoding: 'utf8' },
    );
    const checked = await runHere(['restore', backup, '--check'], { PERCH_DATA_DIR: data });

    expect(stderr).toMatch(/^perch: Wrote the backup to standard output: archive\.db, /);
    expect(status).toBe(0);
    expect(checked.code).toBe(0);
    expect(readdirSync(root).sort()).toEqual(['backup.zip', 'data']);
  });

  it.skipIf(!existsSync('/dev/full'))('exits with 3 if standard output is full', () => {
    const { data, root } = openRig();

    const { status, stderr } = spawnSync(
      'sh',
      ['-c', '"$0" "$1" backup - > /dev/full', process.execPath, inject('perchMain')],
      { env: { PATH: process.env.PATH, PERCH_DATA_DIR: data, TMPDIR: root }, encoding: 'utf8' },
    );

    expect(stderr).toBe(
      'perch: Standard output cannot be written. The disk is full. Free some space and try again.\n',
    );
    expect(status).toBe(3);
  });

  it('replaces a file only with --force', async () => {
    const { backup, run } = openRig();
    writeFileSync(backup, 'other');

    const refused = await run('backup', backup);
    const kept = readFileSync(backup, 'utf8');
    const forced = await run('backup', '--force', backup);

    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toBe(
      `perch: ${backup} already exists. Choose another name, or replace the file with --force.\n`,
    );
    expect(kept).toBe('other');
    expect(forced.code).toBe(0);
    expect((await run('restore', '--check', backup)).code).toBe(0);
  });

  it('replaces what a killed backup has left, but not a running one', async () => {
    const { backup, run, root } = openRig();
    mkdirSync(`${backup}.part`);
    writeFileSync(`${backup}.part/archive.db`, 'unfinished');
    const lock = lockFile(`${backup}.part/lock`);

    const whileRunning = await run('backup', backup);
    lock.release();
    const afterwards = await run('backup', backup);

    expect(whileRunning.stderr).toMatch(/^perch: Another backup to .+ is running\. Wait .+\n$/);
    expect([whileRunning.code, afterwards.code]).toEqual([3, 0]);
    expect(readdirSync(root).sort()).toEqual(['backup.zip', 'data']);
  });

  it('refuses damaged data, names the file and leaves no backup', async () => {
    const { backup, run, root, data } = openRig();
    const content = readFileSync(`${data}/sessions.db`);
    writeFileSync(`${data}/sessions.db`, content.fill(0xa5, 4096, 8192));

    const refused = await run('backup', backup);

    expect(refused.code).toBe(3);
    expect(refused.stderr).toMatch(/^perch: \S+\/data\/sessions\.db is damaged/);
    expect(readdirSync(root)).toEqual(['data']);
  });

  it('says what it does not contain if instances share an engine', async () => {
    const { data, root, backup } = openRig();
    for (const name of ['perch.db', 'sessions.db', 'cursor.key', 'session.key', 'actor.key']) {
      rmSync(`${data}/${name}`);
    }
    const env = { PERCH_DATA_DIR: data, PERCH_REDIS_URL: 'redis://127.0.0.1:1' };

    const made = await runHere(['backup', backup], env);
    const restored = await runHere(['restore', backup], { PERCH_DATA_DIR: join(root, 'other') });

    expect(made).toMatchObject({ code: 0 });
    expect(made.stdout).toMatch(/: archive\.db\n$/);
    expect(made.stderr).toMatch(/not in this backup\. Back up the shared engine too/);
    expect(restored.stderr).toMatch(/not restored\. Restore the shared engine too/);
  });

  it.each([
    [[], /^perch: Name one FILE/, 2],
    [['one.zip', 'two.zip'], /^perch: Name one FILE/, 2],
    [['-'], /^perch: A backup is a binary file\. Redirect/, 2],
    [['/no/such/folder/backup.zip'], /cannot be written\. Its folder does not exist\.\n$/, 2],
    [['/'], /exists and is not a regular file/, 2],
  ])('refuses %j', async (args, message, code) => {
    const { run } = openRig();

    const refused = await run('backup', ...args);

    expect(refused.stderr).toMatch(message);
    expect(refused.code).toBe(code);
  });

  it('refuses a data directory without data, and one in memory', async () => {
    const { root, backup } = openRig();

    const empty = await runHere(['backup', backup], { PERCH_DATA_DIR: join(root, 'nothing') });
    const memory = await runHere(['backup', backup], { PERCH_DATA_DIR: ':memory:' });

    expect(empty.stderr).toMatch(/contains no data of Perch\. Set PERCH_DATA_DIR to/);
    expect(memory.stderr).toMatch(/PERCH_DATA_DIR is :memory:/);
    expect([empty.code, memory.code]).toEqual([2, 2]);
    expect(existsSync(join(root, 'nothing'))).toBe(false);
  });

  it('contains every file of a data directory that a server cannot create again', async () => {
    const data = join(temporaryFolder(), 'data');
    const actor = { PERCH_ACTOR: 'true', PERCH_BASE_URL: 'https://perch.example.org' };
    const used = { PERCH_ARCHIVE_HISTORY: 'true', PERCH_SESSIONS: 'on', ...actor };
    const server = await serve(data, used);
    const names = readdirSync(data);
    await stop(server);

    const isSaved = (name: string) => savedFiles.some((one) => name.startsWith(one));
    const recreated = /^answers\.db|^data\.lock|\.lock(?:-journal)?$|\.address$/;
    expect(names.filter((name) => !isSaved(name) && !recreated.test(name))).toEqual([]);
    expect(names.filter((name) => !isOwnName(name))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining([...savedFiles]));
  });
});

describe('perch restore', () => {
  it('replaces the data and keeps the earlier data', async () => {
    const { data, backup, run } = openRig();
    await run('backup', backup);
    const first = readSavedData(data);
    for (const name of savedFiles) rmSync(`${data}/${name}`);
    writeData(data, 'second');
    const second = readSavedData(data);

    const restored = await run('restore', backup);

    expect(restored).toMatchObject({ code: 0, stderr: '' });
    const [, earlier] = /^The earlier data is in (\S+)\. Delete/m.exec(restored.stdout) ?? [];
    expect(readSavedData(data)).toEqual(first);
    expect(readSavedData(earlier ?? '')).toEqual(second);
    expect(modeOf(earlier ?? '')).toBe(0o700);
    expect(readdirSync(data).filter((name) => !isOwnName(name))).toEqual([]);
  });

  it.each([{ PERCH_SESSIONS: 'on' }, { PERCH_SESSIONS: 'off' }])(
    'refuses while a server uses the data directory: %j',
    async (env) => {
      const { data, backup, run } = openRig();
      await run('backup', backup);
      const server = await serve(data, env);

      const refused = await run('restore', backup);
      await stop(server);
      const accepted = await run('restore', backup);

      expect(refused.stderr).toMatch(/^perch: Another process uses the data directory .+ Stop it,/);
      expect([refused.code, accepted.code]).toEqual([3, 0]);
    },
  );

  it('keeps other commands from using the data directory meanwhile', async () => {
    const { data, run } = openRig();
    const lock = lockFile(`${data}/data.lock`);
    onTestFinished(() => lock.release());

    const refused = await run('keys', 'list');

    expect(refused.stderr).toMatch(/^perch: A backup is being restored into .+ Wait until/);
    expect(refused.code).toBe(3);
  });

  it('only checks a backup with --check', async () => {
    const { data, backup, run } = openRig();
    await run('backup', backup);
    const before = readdirSync(data);

    const checked = await run('restore', '--check', backup);

    expect(checked.stdout).toMatch(/backup\.zip is complete and can be restored: archive\.db, /);
    expect(checked.code).toBe(0);
    expect(readdirSync(data)).toEqual(before);
  });

  it.runIf(process.getuid?.() === 0)('gives all files to the owner of the folder', async () => {
    const { data, backup, run } = openRig();
    await run('backup', backup);
    for (const path of ['', ...readdirSync(data)]) chownSync(join(data, path), 12_345, 12_346);

    await run('restore', backup);

    const all = readdirSync(data, { recursive: true, encoding: 'utf8' });
    for (const name of all) {
      const { uid, gid } = statSync(join(data, name));
      expect([name, uid, gid]).toEqual([name, 12_345, 12_346]);
    }
  });

  it('deletes the incomplete files of a restore that was interrupted', async () => {
    const { data, run } = openRig();
    mkdirSync(`${data}/restore.new`);
    writeFileSync(`${data}/restore.new/archive.db`, 'half');

    const listed = await run('keys', 'list');

    expect(listed.code).toBe(0);
    expect(listLeftovers(data)).toEqual([]);
  });
});

/** Changes the files of a backup, without its manifest, and the manifest. */
type Change = (files: Map<string, Buffer>, manifest: Record<string, unknown>) => void;

/** Writes a backup with changed content. The hashes in the manifest are those of the changed content. */
async function forge(rig: Rig, change: Change): Promise<string> {
  const folder = join(rig.root, 'unpacked');
  cpSync(rig.data, folder, { recursive: true });
  const files = new Map<string, Buffer>();
  for (const name of savedFiles) files.set(name, readFileSync(`${folder}/${name}`));
  const manifest: Record<string, unknown> = {
    perch_backup: 1,
    perch: '0.1.0',
    created: '2026-03-04T09:12:00Z',
    shared_engine: false,
  };
  change(files, manifest);
  const listed = listFiles(files);
  const whole = JSON.stringify({ files: listed, ...manifest });
  const path = join(rig.root, 'forged.zip');
  return writeZip(path, new Map<string, string | Buffer>([['manifest.json', whole], ...files]));
}

function listFiles(files: ReadonlyMap<string, Buffer>) {
  return [...files].map(([name, content]) => ({
    name,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  }));
}

/** Changes the size that the directory of a zip file states for a file (APPNOTE.TXT 4.3.12). */
function setStatedSize(path: string, name: string, bytes: number): void {
  const content = readFileSync(path);
  const nameAt = content.lastIndexOf(name);
  const headerAt = content.lastIndexOf('PK\x01\x02', nameAt, 'latin1');
  content.writeUInt32LE(bytes, headerAt + 24);
  writeFileSync(path, content);
}

/** Changes a database of a backup with SQL. */
function withSql(rig: Rig, name: string, sql: string): Change {
  return (files) => {
    const path = join(rig.root, 'unpacked', name);
    withDatabase(path, (database) => database.exec(`PRAGMA journal_mode = DELETE; ${sql}`));
    files.set(name, readFileSync(path));
  };
}

const hostile: Readonly<Record<string, readonly [(rig: Rig) => Promise<string> | string, RegExp]>> =
  {
    'a missing file': [({ root }) => join(root, 'nothing.zip'), /does not exist\. Check the path/],
    'a folder': [({ root }) => root, /is a folder\. Name the file/],
    'a text file': [({ data }) => `${data}/cursor.key`, /is not a backup of Perch/],
    'a truncated backup': [
      async (rig) => {
        const path = await forge(rig, () => {});
        truncateSync(path, statSync(path).size - 100);
        return path;
      },
      /is not a backup of Perch, or it is incomplete/,
    ],
    'a changed byte': [
      async (rig) => {
        const path = await forge(rig, () => {});
        const content = readFileSync(path);
        content[2000] = (content[2000] ?? 0) ^ 0xff;
        writeFileSync(path, content);
        return path;
      },
      /(?:is damaged|is not a backup of Perch)/,
    ],
    'a wrong hash': [
      (rig) =>
        forge(rig, (files, manifest) => {
          manifest.files = listFiles(files).map((file) => ({ ...file, sha256: '0'.repeat(64) }));
        }),
      /is damaged: its content is not the content that was backed up/,
    ],
    'no manifest': [
      (rig) => writeZip(join(rig.root, 'other.zip'), new Map([['perch.db', 'x']])),
      /is not a backup of Perch/,
    ],
    'a huge manifest': [
      (rig) =>
        writeZip(join(rig.root, 'other.zip'), new Map([['manifest.json', ' '.repeat(70_000)]])),
      /is not a backup of Perch/,
    ],
    'many files': [
      (rig) =>
        writeZip(
          join(rig.root, 'other.zip'),
          new Map(Array.from({ length: 5000 }, (_, number) => [`${number}`, ''])),
        ),
      /is not a backup of Perch/,
    ],
    'an unknown file': [
      (rig) => forge(rig, (files) => void files.set('extra.db', Buffer.from('x'))),
      /is not a backup of Perch/,
    ],
    'a path that leaves the folder': [
      async (rig) => {
        const path = await forge(rig, () => {});
        const content = readFileSync(path, 'latin1').replaceAll('cursor.key', '../evil.ke');
        writeFileSync(path, content, 'latin1');
        return path;
      },
      /is not a backup of Perch/,
    ],
    'a file named twice': [
      async (rig) => {
        const path = await forge(rig, (files) => void files.set('cursor.kez', Buffer.from('x')));
        const content = readFileSync(path, 'latin1').replaceAll('cursor.kez', 'cursor.key');
        writeFileSync(path, content, 'latin1');
        return path;
      },
      /is not a backup of Perch/,
    ],
    'a size that differs from the manifest': [
      async (rig) => {
        const path = await forge(rig, () => {});
        setStatedSize(path, 'cursor.key', 2 ** 31);
        return path;
      },
      /is not a backup of Perch/,
    ],
    'a file that expands to more than its stated size': [
      async (rig) => {
        const path = await forge(rig, (files, manifest) => {
          files.set('cursor.key', Buffer.alloc(50_000_000));
          manifest.files = listFiles(files).map((file) =>
            file.name === 'cursor.key' ? { ...file, bytes: 65 } : file,
          );
        });
        setStatedSize(path, 'cursor.key', 65);
        return path;
      },
      /cursor\.key in \S+ is damaged: its content is not the content that was backed up/,
    ],
    'a newer format': [
      (rig) =>
        forge(
          rig,
          (_, manifest) => void Object.assign(manifest, { perch_backup: 2, perch: '9.0.0' }),
        ),
      /was made by a newer version of Perch \(9\.0\.0\)\. Install that version/,
    ],
    'a newer schema': [
      (rig) => forge(rig, withSql(rig, 'archive.db', 'PRAGMA user_version = 99')),
      /was made by a newer version of Perch \(0\.1\.0\)\. Install that version/,
    ],
    'a trigger': [
      (rig) =>
        forge(
          rig,
          withSql(
            rig,
            'perch.db',
            'CREATE TRIGGER evil AFTER INSERT ON keys BEGIN DELETE FROM keys; END',
          ),
        ),
      /perch\.db in \S+ is not a database of Perch\./,
    ],
    'a missing table': [
      (rig) => forge(rig, withSql(rig, 'sessions.db', 'DROP TABLE purged')),
      /sessions\.db in \S+ is not a database of Perch\./,
    ],
    'a damaged database': [
      (rig) =>
        forge(rig, (files) => {
          const content = files.get('archive.db') ?? Buffer.alloc(0);
          content.fill(0xa5, 4096, 8192);
        }),
      /archive\.db in \S+ is damaged/,
    ],
    'a text in the place of a database': [
      (rig) =>
        forge(rig, (files) => void files.set('archive.db', Buffer.from('no database'.repeat(99)))),
      /archive\.db in \S+ is damaged, or is not a database/,
    ],
    'an invalid secret': [
      (rig) => forge(rig, (files) => void files.set('cursor.key', Buffer.from('weak'))),
      /cursor\.key in \S+ does not contain a secret of 64 hex digits/,
    ],
  };

describe('a file that cannot be restored', () => {
  it.each(Object.entries(hostile))('is refused and changes nothing: %s', async (_, row) => {
    const [make, message] = row;
    const rig = openRig();
    const path = await make(rig);
    const before = readSavedData(rig.data);

    const refused = await rig.run('restore', path);

    expect(refused.stderr).toMatch(message);
    expect(refused.stderr).toMatch(/^perch: [^\n]+\n$/);
    expect([2, 3]).toContain(refused.code);
    expect(readSavedData(rig.data)).toEqual(before);
    expect(readdirSync(rig.data).filter((name) => /^(?:restore|before)/.test(name))).toEqual([]);
  });

  it('is only refused for these reasons', async () => {
    const rig = openRig();

    const accepted = await rig.run('restore', await forge(rig, () => {}));

    expect(accepted).toMatchObject({ code: 0, stderr: '' });
  });
});
