import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, it } from 'vitest';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';
import { fxStatus, fxUser } from '../support/x-payloads.ts';

const thread = 'http://localhost:8080/ada.example/status/1900000000000000001';

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runHere(args, { PERCH_DATA_DIR: ':memory:', PERCH_PROVIDERS: 'archive', ...env });

/** Returns the path of a folder that does not exist. */
const newFolder = () => `${temporaryFolder()}/vault/posts`;

/** Returns the files of a folder by name, without the time at which Perch read them. */
const notesIn = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [
      name,
      readFileSync(`${folder}/${name}`, 'utf8').replace(/^fetched_at: .*\n/m, ''),
    ]),
  );

function serveTexts(texts: () => Readonly<Record<string, string>>): FakeHandler {
  return (request, response) => {
    const author = fxUser('wren');
    const results = Object.entries(texts()).map(([id, text]) => fxStatus(id, { author, text }));
    const isList = request.url?.includes('/statuses') === true;
    const page = { code: 200, results, cursor: { top: null, bottom: null } };
    answerJson(response, isList ? page : { code: 200, message: 'OK', user: author });
  };
}

async function onX(texts: () => Readonly<Record<string, string>>) {
  const fake = await upstream(serveTexts(texts));
  return { PERCH_PROVIDERS: 'fxtwitter', PERCH_FXTWITTER_URL: fake.url };
}

describe('perch read --output-dir', () => {
  it('writes a note for each post of an account into a new folder', async () => {
    const folder = newFolder();

    const { code, stdout, stderr } = await run([
      ...['read', '@ada.example', '--limit', '3', '--output-dir', folder],
    ]);

    expect(code).toBe(0);
    expect(stdout).toBe(`3 notes written to ${folder} (3 new, 0 updated), 0 unchanged\n`);
    expect(stderr).toBe('perch: There are more results. Use --limit N or --all.\n');
    const notes = Object.entries(notesIn(folder));
    expect(notes).toHaveLength(3);
    for (const [name, note] of notes) {
      expect(name).toMatch(/^Ada Fenwick \(@ada\.example\) .+ 19\d+\.md$/);
      expect(note).toMatch(/^---\ntitle: "?Ada Fenwick \(@ada\.example\): /);
    }
  });

  it('writes the notes that the posts have alone', async () => {
    const [list, alone] = [newFolder(), newFolder()];
    const { stdout } = await run(['read', '@ada.example', '--with-reposts', '--all', '--json']);
    const urls = stdout.split('\n').flatMap((line) => {
      const { type, url } = line === '' ? {} : JSON.parse(line);
      return type === 'status' ? [String(url)] : [];
    });

    await run(['read', '@ada.example', '--with-reposts', '--all', '--output-dir', list]);
    await run(['read', ...urls, '--thread', 'off', '--output-dir', alone]);

    expect(urls.length).toBeGreaterThan(5);
    expect(notesIn(list)).toEqual(notesIn(alone));
  });

  it('writes a post with its thread as one note, which --format obsidian prints too', async () => {
    const folder = newFolder();

    const ended = await run(['read', thread, '--output-dir', folder, '--format', 'obsidian']);
    const { stdout } = await run(['read', thread, '--format', 'obsidian']);

    expect(ended.stdout).toContain('1 note written');
    expect(Object.values(notesIn(folder))).toEqual([stdout.replace(/^fetched_at: .*\n/m, '')]);
  });

  it.each([
    [['read', 'localhost:8080/search?q=heron&platform=sample', '--limit', '2']],
    [['search', 'heron', '--platform', 'sample', '--limit', '2']],
  ])('writes the posts of a search: %j', async (args) => {
    const folder = newFolder();

    const { code, stdout } = await run([...args, '--output-dir', folder]);

    expect(code).toBe(0);
    expect(stdout).toContain('2 notes written');
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('reads all inputs, and continues after an input that cannot be read', async () => {
    const folder = newFolder();

    const { code, stdout, stderr } = await run([
      ...['read', '@nobody.example', '@ada.example', 'harbour.example', '--limit', '1'],
      ...['--output-dir', folder],
    ]);

    expect(code).toBe(1);
    expect(stdout).toBe(`2 notes written to ${folder} (2 new, 0 updated), 0 unchanged\n`);
    expect(stderr).toContain('perch: @nobody.example: ');
  });

  it('does not write unchanged notes again', async () => {
    const folder = newFolder();
    const args = ['read', '@ada.example', '--all', '--output-dir', folder];
    await run(args);
    const first = readdirSync(folder).map((name) => statSync(`${folder}/${name}`).ino);

    const { stdout } = await run(args);

    expect(stdout).toBe(
      `0 notes written to ${folder} (0 new, 0 updated), ${first.length} unchanged\n`,
    );
    expect(readdirSync(folder).map((name) => statSync(`${folder}/${name}`).ino)).toEqual(first);
  });

  it('updates the note of a post whose title has changed, under the same name', async () => {
    let texts: Readonly<Record<string, string>> = { 20: 'Tide at noon', 21: 'Tide at one' };
    const env = await onX(() => texts);
    const folder = newFolder();
    const args = ['read', '@wren', '--output-dir', folder];
    await run(args, env);
    const names = readdirSync(folder);
    texts = { 20: 'Fog at noon', 21: 'Tide at one', 22: 'Tide at two' };

    const { stdout } = await run(args, env);

    expect(stdout).toBe(`2 notes written to ${folder} (1 new, 1 updated), 1 unchanged\n`);
    expect(readdirSync(folder)).toHaveLength(3);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(names));
    const old = names.find((name) => name.endsWith(' 20.md'));
    expect(readFileSync(`${folder}/${old}`, 'utf8')).toContain('Fog at noon');
  });

  it('keeps other files, also a note of another post with the same id', async () => {
    const env = await onX(() => ({ 20: 'Tide at noon' }));
    const folder = newFolder();
    mkdirSync(folder, { recursive: true });
    const other = '---\nurl: https://social.example/@wren/20\n---\n';
    writeFileSync(`${folder}/Someone 20.md`, other);
    mkdirSync(`${folder}/Folder 20.md`);

    const { code } = await run(['read', '@wren', '--output-dir', folder], env);

    expect(code).toBe(0);
    expect(readdirSync(folder)).toHaveLength(3);
    expect(readFileSync(`${folder}/Someone 20.md`, 'utf8')).toBe(other);
  });

  it('finds a renamed note that still ends with the id of the post', async () => {
    const folder = newFolder();
    const args = ['read', '@ada.example', '--limit', '1', '--output-dir', folder];
    await run(args);
    const [name = ''] = readdirSync(folder);
    renameSync(`${folder}/${name}`, `${folder}/Heron ${name.slice(name.lastIndexOf(' ') + 1)}`);

    const { stdout } = await run(args);

    expect(stdout).toContain('1 unchanged');
    expect(readdirSync(folder)).toHaveLength(1);
  });
});

describe('perch read --output-dir refuses', () => {
  it.each([
    [['read', '@ada.example/followers'], 'this list contains no posts'],
    [['read', '@ada.example', '--no-include-posts'], 'this list contains no posts'],
    [['search', 'heron', '--platform', 'sample', '--feed', 'users'], 'contains no posts'],
    [['read', thread, '--json'], '--output-dir and --json cannot be used together.'],
    [['search', 'heron', '--json'], '--output-dir and --json cannot be used together.'],
    [['read', thread, '--output', 'a.md'], '--output-dir and --output cannot be used together.'],
    [['read', thread, '--max-chars', '2000'], '--output-dir and --max-chars cannot be'],
    [['read', thread, '--format', 'html'], 'cannot be used with another --format'],
  ])('%j', async (args, message) => {
    const folder = newFolder();

    const { code, stdout, stderr } = await run([...args, '--output-dir', folder]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(existsSync(folder)).toBe(false);
  });

  it('a file instead of a folder, and an empty path', async () => {
    const file = `${temporaryFolder()}/file`;
    writeFileSync(file, 'text');
    const to = (path: string) => run(['read', thread, `--output-dir=${path}`]);

    expect(await to(file)).toEqual({
      code: 2,
      stdout: '',
      stderr: `perch: ${file} is not a folder. Set --output-dir to a folder.\n`,
    });
    expect(await to(`${file}/notes`)).toMatchObject({
      code: 2,
      stderr: `perch: ${file}/notes cannot be written. A part of its path is a file.\n`,
    });
    expect((await to('')).stderr).toContain('--output-dir is empty. Set it to a folder.');
    expect(readFileSync(file, 'utf8')).toBe('text');
  });

  it.skipIf(process.getuid?.() === 0)('a folder without permission', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o500);

    const { code, stderr } = await run(['read', thread, '--output-dir', folder]);

    expect(code).toBe(3);
    expect(stderr).toContain(`${folder} cannot be written. You have no permission`);
  });
});
