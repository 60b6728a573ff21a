import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ArchiveStore, openArchiveStore } from '../../src/archive/store/store.ts';
import { runCommand } from '../../src/cli/run.ts';
import { connectSqlite } from '../../src/lib/files/sqlite.ts';
import { dumpArchive, importExport } from '../support/exports/import-export.ts';
import { createSeeded } from '../support/exports/seeded.ts';
import { makeXExport, writeExport } from '../support/exports/x-export.ts';
import { writeZip } from '../support/exports/zip.ts';
import { isLongRun } from '../support/long-run.ts';
import { runHere } from '../support/run-here.ts';
import { type PerchProcess, spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

const posts = 8000;
const makeExport = () =>
  makeXExport({ posts, followers: 40, repostEvery: 9, replyEvery: 7, brokenEvery: 500, parts: 2 });

function open(path: string): ArchiveStore {
  const store = openArchiveStore(path, 'http://localhost:8080');
  onTestFinished(() => store.close());
  return store;
}

function startImport(data: string, ...args: readonly string[]): PerchProcess {
  return spawnPerch(['archive', 'import', ...args], { PERCH_DATA_DIR: data });
}

const archive = (data: string, ...args: readonly string[]) =>
  runHere(['archive', ...args], { PERCH_DATA_DIR: data });

function itemsOf(store: ArchiveStore): number {
  return store.listImports('x', 'wren_example')[0]?.items ?? 0;
}

const kills = isLongRun ? 10 : 4;

it(`resumes after kill -9 at ${kills} moments, and ends with the same contents`, async () => {
  const path = writeExport(temporaryFolder(), makeExport());
  const whole = open(join(temporaryFolder(), 'archive.db'));
  await importExport(whole, path);
  const data = temporaryFolder();
  const store = open(join(data, 'archive.db'));
  const random = createSeeded(7);
  const between = 5000 / kills;

  for (let kill = 0; kill < kills; kill++) {
    const child = startImport(data, path);
    const until = kill * between + random.below(between);
    await vi.waitUntil(() => itemsOf(store) >= until, { timeout: 120_000, interval: 1 });
    child.kill('SIGKILL');
    expect((await child.ended).code).toBeNull();
  }
  const last = await startImport(data, path, '--json').ended;

  expect(JSON.parse(last.stdout)).toMatchObject({ ended: 'done', posts: posts - 16, faults: 16 });
  expect(JSON.parse(last.stdout).resumed_after).toBeGreaterThan(3500);
  expect(dumpArchive(store)).toEqual(dumpArchive(whole));
});

it('stops on SIGINT and explains how to continue', async () => {
  const path = writeExport(temporaryFolder(), makeExport());
  const data = temporaryFolder();
  const store = open(join(data, 'archive.db'));
  const child = startImport(data, path);
  await vi.waitUntil(() => itemsOf(store) > 0, { timeout: 120_000, interval: 1 });

  child.kill('SIGINT');

  const { code, stdout } = await child.ended;
  expect({ code, stdout }).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('Run the same command to continue.'),
  });
  const { stdout: rest } = await startImport(data, path, '--json').ended;
  expect(JSON.parse(rest)).toMatchObject({ ended: 'done', posts: posts - 16 });
});

it('does not disturb a server that reads the archive', async () => {
  const path = writeExport(temporaryFolder(), makeExport());
  const data = temporaryFolder();
  const server = spawnPerch(['serve'], {
    PORT: '0',
    PERCH_DATA_DIR: data,
    PERCH_PROVIDERS: 'archive',
    PERCH_PUBLIC_ALLOWANCE: '100000',
    PERCH_POOL_ALLOWANCE: '100000',
  });
  const [, base = ''] = await server.printed(/(http:\/\/127\.0\.0\.1:\d+)/);
  const child = startImport(data, path);
  let isRunning = true;
  const ended = child.ended.then((end) => {
    isRunning = false;
    return end;
  });

  const statuses = new Set<number>();
  while (isRunning) {
    const reply = await fetch(`${base}/search?platform=archive&q=harbour&nocache=true`);
    statuses.add(reply.status);
    await reply.arrayBuffer();
  }

  expect((await ended).code).toBe(0);
  expect([...statuses]).toEqual([200]);
  const profile = await fetch(`${base}/wren_example?format=json&limit=2&with_reposts=true`);
  expect(await profile.json()).toMatchObject({ source: 'archive', profile: { followers: 40 } });
});

describe('perch archive', () => {
  const small = () => makeXExport({ posts: 12, followers: 3, repostEvery: 4 });

  it('imports a zip file, lists, exports and removes', async () => {
    const data = temporaryFolder();
    const zip = await writeZip(join(data, 'twitter.zip'), small(), 'twitter-2026/');

    const imported = await archive(data, 'import', zip);
    const listed = await archive(data, 'list', '--json');
    const exported = await archive(data, 'export', '@Wren_Example');
    const removed = await archive(data, 'remove', 'wren_example');
    const again = await archive(data, 'remove', 'wren_example');

    expect(imported).toMatchObject({ code: 0, stderr: '' });
    expect(imported.stdout).toContain('X export, 1 account, 12 posts, 3 reposts, 3 follows; ');
    expect(JSON.parse(listed.stdout)).toMatchObject({
      handle: 'wren_example',
      posts: 9,
      reposts: 3,
      followers: 3,
      imports: [{ file: 'twitter.zip', done: true, exported_at: '2026-02-01T10:00:00Z' }],
    });
    expect(exported.stdout.split('\n')).toHaveLength(1 + 1 + 12 + 3 + 3 + 1);
    expect(removed.stdout).toBe(
      'Removed wren_example on x: 9 posts, 3 reposts (with 3 posts of other accounts), 3 follows.\n',
    );
    expect(again).toMatchObject({ code: 1, stdout: '' });
  });

  it('names the files of an export that are left out', async () => {
    const data = temporaryFolder();
    const files = new Map(small());
    for (let number = 10; number < 80; number++) files.set(`data/odd-${number}.js`, 'odd = [1, 2]');
    const folder = writeExport(temporaryFolder(), files);

    const first = await archive(data, 'import', folder);
    const again = await archive(data, 'import', folder);
    const json = await archive(temporaryFolder(), 'import', folder, '--json');

    const lines = first.stdout.split('\n').filter((line) => line.startsWith('  left out: '));
    expect(first.code).toBe(0);
    expect(lines).toHaveLength(61);
    expect(lines.slice(0, 3)).toEqual([
      '  left out: data/direct-messages.js, 1 item: private messages',
      '  left out: data/like.js, 1 item: likes are private',
      '  left out: data/odd-10.js, 2 items: Perch does not import this file',
    ]);
    expect(lines.at(-1)).toBe('  left out: 12 more files');
    expect(again.stdout).toContain('already imported\n  left out: 72 files\n');
    expect(JSON.parse(json.stdout)).toMatchObject({
      left_out_files: 72,
      left_out: expect.arrayContaining([
        { file: 'data/like.js', count: 1, unit: 'item', reason: 'likes are private' },
      ]),
    });
  });

  it.each([
    ['has only an account', { 'tweets.js': 'window.YTD.tweets.part0 = [ ]' }],
    ['has no readable post', { 'tweets.js': 'window.YTD.tweets.part0 = [{}, {}]' }],
  ])('exits with 1 if the export %s', async (_name, changes) => {
    const files = new Map(makeXExport({ posts: 0 }));
    for (const [name, text] of Object.entries(changes)) files.set(`data/${name}`, text);
    const folder = writeExport(temporaryFolder(), files);
    const data = temporaryFolder();

    const ends = [await archive(data, 'import', folder), await archive(data, 'import', folder)];

    for (const { code, stdout } of ends) {
      expect(code).toBe(1);
      expect(stdout).toContain('Nothing but the account was imported');
    }
  });

  it('imports the complete records of a truncated file', async () => {
    const folder = writeExport(temporaryFolder(), small());
    const tweets = join(folder, 'data/tweets.js');
    truncateSync(tweets, readFileSync(tweets).length - 100);

    const data = temporaryFolder();

    const { code, stdout, stderr } = await archive(data, 'import', folder);
    const again = await archive(data, 'import', folder);

    expect(code).toBe(3);
    expect(stdout).toContain('1 account, 11 posts');
    expect(stdout).toContain('The export is incomplete.');
    expect(stderr).toContain('The file ends in the middle of this record.');
    expect(again.code).toBe(3);
    expect(again.stdout).toContain('The export is incomplete.');
  });

  it.each([
    ['no such file', ['import', 'nowhere.zip'], 2, 'There is no such file or folder.'],
    ['a path through a file', ['import', 'package.json/x'], 2, 'There is no such file or folder.'],
    ['a device', ['import', '/dev/null'], 2, 'is neither a file nor a folder'],
    ['no file', ['import'], 2, 'Name the file or folder of an export.'],
    ['no such form', ['import', 'x', '--form', 'paper'], 2, '--form must be one of'],
    ['another folder', ['import', 'test/support'], 1, 'is not an export that Perch can read'],
    ['no such command', ['burn'], 2, 'The subcommands of perch archive are'],
    ['no handle', ['remove', 'not a handle'], 2, 'is not a handle'],
    [
      'another form',
      ['import', 'test/support', '--form', 'bluesky'],
      2,
      'not an export in the format bluesky, which --form selects. Omit --form to detect the format.',
    ],
    ['the sample', ['remove', 'ada.example'], 2, 'PERCH_SAMPLE=false'],
    ['an unknown account', ['export', 'jack'], 1, 'does not contain jack on x'],
    ['no such format', ['export', '--format', 'paper'], 2, '--format must be one of'],
  ])('explains the failure: %s', async (_name, args, code, message) => {
    const end = await archive(temporaryFolder(), ...args);

    expect(end).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });

  it('refuses a data directory that is a file', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');

    expect(await archive(file, 'import', 'test/support')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('Set it to a folder.'),
    });
  });

  it.each([
    ['export', 'missing/x.ndjson', 'Its folder does not exist.'],
    ['export', 'folder', 'It is a folder.'],
    ['export', 'file/x.ndjson', 'A part of its path is a file.'],
    ['export wren_example --format markdown', 'file/notes', 'A part of its path is a file.'],
  ])('explains why `%s` cannot write %s', async (args, output, why) => {
    const data = temporaryFolder();
    await archive(data, 'import', writeExport(temporaryFolder(), small()));
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'folder'));
    writeFileSync(join(folder, 'file'), '');

    const path = join(folder, output);
    expect(await archive(data, ...args.split(' '), '--output', path)).toEqual({
      code: 2,
      stdout: '',
      stderr: `perch: ${path} cannot be written. ${why}\n`,
    });
    expect(readdirSync(folder).sort()).toEqual(['file', 'folder']);
  });

  it('writes to devices and through symbolic links without replacing them', async () => {
    const data = temporaryFolder();
    await archive(data, 'import', writeExport(temporaryFolder(), small()));
    const folder = temporaryFolder();
    const [full, link] = [join(folder, 'full'), join(folder, 'link')];
    symlinkSync('/dev/full', full);
    symlinkSync(join(folder, 'file'), link);
    writeFileSync(join(folder, 'file'), '');

    expect(await archive(data, 'export', '--output', full)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('The disk is full.'),
    });
    expect(await archive(data, 'export', '--output', link)).toMatchObject({ code: 0, stderr: '' });

    expect(readdirSync(folder).sort()).toEqual(['file', 'full', 'link']);
    expect([full, link].map((path) => lstatSync(path).isSymbolicLink())).toEqual([true, true]);
    expect(readFileSync(join(folder, 'file'), 'utf8')).toContain('"perch_archive":1');
  });

  it('exits with 0 when the reader of an export closes the pipe', async () => {
    const data = temporaryFolder();
    await archive(data, 'import', writeExport(temporaryFolder(), small()));
    const left = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const stdout = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, end) => end(left) });
    stdout.on('error', () => undefined); // like the process
    const stderr = { write: vi.fn() };

    const code = await runCommand(['archive', 'export'], {
      env: { PERCH_DATA_DIR: data },
      stdout,
      stderr,
    });

    expect(code).toBe(0);
    expect(stderr.write).not.toHaveBeenCalled();
  });

  it('refuses an empty --output', async () => {
    const end = await archive(temporaryFolder(), 'export', '--output', '');

    expect(end).toMatchObject({ code: 2, stderr: expect.stringContaining('--output is empty') });
  });

  it('refuses an archive in memory', async () => {
    const end = await archive(':memory:', 'list');

    expect(end).toMatchObject({ code: 2, stderr: expect.stringContaining('Set it to a folder.') });
  });

  it('reports an archive that another process has locked', async () => {
    const data = temporaryFolder();
    const folder = writeExport(temporaryFolder(), small());
    open(join(data, 'archive.db'));
    const other = connectSqlite({ path: join(data, 'archive.db') });
    onTestFinished(() => void other.close());
    other.exec('BEGIN IMMEDIATE');

    const locked = await archive(data, 'import', folder);
    other.exec('ROLLBACK');
    const free = await archive(data, 'import', folder);

    expect(locked).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('has locked the archive'),
    });
    expect(free).toMatchObject({ code: 0, stdout: expect.stringContaining('12 posts') });
  });

  it('reports a damaged archive', async () => {
    const data = temporaryFolder();
    writeFileSync(join(data, 'archive.db'), 'no database at all, but long enough to be looked at');

    const end = await archive(data, 'list');

    expect(end).toMatchObject({ code: 3, stderr: expect.stringContaining('The archive is') });
  });
});
