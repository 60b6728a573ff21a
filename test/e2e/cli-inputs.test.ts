import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startFakeFxTwitter } from '../support/fake-fxtwitter.ts';
import { answerJson } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { linesOf, runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';
import { fxBody, fxStatus, fxUser } from '../support/x-payloads.ts';

const id = '1900000000000000001';
const post = `http://localhost:8080/ada.example/status/${id}`;

const run = (
  args: readonly string[],
  { env = {}, stdin = '' }: { env?: Record<string, string>; stdin?: string } = {},
) => runHere(args, { PERCH_DATA_DIR: ':memory:', PERCH_PROVIDERS: 'archive', ...env }, { stdin });

const titleOf = (text: string) => text.split('\n', 1)[0];

const thread =
  '# Thread by Ada Fenwick (@ada.example): The heron at gate 3 arrives six minutes before I open it.…';

describe('an input of perch read', () => {
  it.each([
    [['ada.example'], '# Ada Fenwick (@ada.example)'],
    [['@ada.example'], '# Ada Fenwick (@ada.example)'],
    [[' ADA.example '], '# Ada Fenwick (@ada.example)'],
    [['ada.example', '--platform', 'sample'], '# Ada Fenwick (@ada.example)'],
    [['ada.example/followers'], '# Followers of @ada.example'],
    [['@ada.example/following'], '# Accounts that @ada.example follows'],
    [['@ada.example/with_replies'], '# Ada Fenwick (@ada.example)'],
    [['@ada.example/media'], '# Ada Fenwick (@ada.example)'],
    [[`@ada.example/status/${id}`], thread],
    [[post], thread],
    [[`localhost:8080/ada.example/status/${id}`], thread],
    [[`http://127.0.0.1:8080/ada.example/status/${id}`], thread],
    [[`127.0.0.1:8080/ada.example/status/${id}/`], thread],
    [[`https://[::1]:8080/ada.example/status/${id}`], thread],
    [[`http://localhost:8080/profile/ada.example/post/${id}`], thread],
    [['http://localhost:8080/ada.example/followers'], '# Followers of @ada.example'],
    [['http://localhost:8080/api/v1/profiles/ada.example'], '# Ada Fenwick (@ada.example)'],
    [['http://localhost:8080/search?q=heron&platform=archive'], '# Search: heron'],
    [['http://localhost:8080/hashtag/BirdDiary?platform=archive'], '# Search: #BirdDiary'],
    [['http://localhost:8080/https://localhost:8080/ada.example'], '# Ada Fenwick (@ada.example)'],
  ])('%j prints %s', async (args, title) => {
    const ended = await run(['read', ...args]);

    expect(ended.code).toBe(0);
    expect(titleOf(ended.stdout)).toBe(title);
  });

  it.each([
    [['20', '--platform', 'x']],
    [['x.com/wren/status/20']],
    [['https://nitter.net/wren/status/20#m']],
    [['fxtwitter.com/wren/status/20']],
    [['https://x.com/i/web/status/20']],
    [['@wren/status/20']],
  ])('%j requests post 20 from X', async (args) => {
    const fake = await upstream((_request, response) =>
      answerJson(response, fxBody(fxStatus('20', { author: fxUser('wren') }))),
    );
    const env = { PERCH_PROVIDERS: 'fxtwitter', PERCH_FXTWITTER_URL: fake.url };

    const ended = await run(['read', ...args, '--thread', 'off'], { env });

    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(fake.requests.map(({ url }) => url)).toEqual(['/2/status/20']);
  });

  it.each([
    [['wren', '--platform', 'x'], '/2/profile/wren/statuses'],
    [['x.com/wren/media'], '/2/profile/wren/media'],
    [['x.com/wren', '--only-media'], '/2/profile/wren/media'],
    [['https://x.com/hashtag/heron'], '/2/search'],
    [['x.com/search?q=heron&f=top'], '/2/search'],
    [['nitter.net/wren/followers'], '/2/profile/wren/followers'],
  ])('%j requests %s from X', async (args, path) => {
    const fake = await startFakeFxTwitter();
    fake.addAccount('wren');
    fake.addTimeline('wren', { length: 3 });
    fake.addConnections('wren', { kind: 'followers', length: 3 });
    for (const text of ['heron', '#heron']) fake.addSearch(text, 2);
    const env = { PERCH_PROVIDERS: 'fxtwitter', PERCH_FXTWITTER_URL: fake.url };

    const ended = await run(['read', ...args], { env });

    expect(ended.code).toBe(0);
    expect(fake.requests.map(({ url = '' }) => url.split('?', 1)[0])).toContain(path);
  });

  it.each([
    [['ada'], 2, 'Did you mean @ada?'],
    [['two words'], 2, 'use perch search'],
    [['1900000000000000001'], 2, 'add --platform x'],
    [['https://t.co/abc'], 2, 't.co'],
    [['https://x.com/home'], 2, 'not the URL of a post, an account or a search'],
    [['3kabc', '--platform', 'bluesky'], 2, '@HANDLE/status/ID'],
    [['ada.example', '--platform', 'x'], 2, 'neither a post id nor a handle on X'],
    [['ada.example', '--platform', 'blusky'], 2, 'Did you mean bluesky?'],
    [['http://localhost:9999/ada.example'], 2, 'has a port'],
    [['ada.example', '--thread', 'off'], 2, '--thread can be used only with a post'],
    [[post, '--only-media'], 2, '--only-media can be used only with a profile'],
    [[post, '--feed', 'top'], 2, '--feed can be used only with a search'],
    [[post, '--thread', 'ful'], 2, 'Did you mean full?'],
    [[post, '--replies', 'tpo'], 2, 'Did you mean top?'],
    [['ada.example', '--platform', 'bsky'], 2, 'Did you mean bluesky?'],
    [[post, '--format', 'md'], 2, 'Did you mean markdown?'],
    [['ada.example', 'harbour.example', '--json', '--format', 'markdown'], 2, '--json cannot'],
    [['-', '-'], 2, 'Give - only once'],
    [['http://localhost:8080/docs/start'], 2, 'not the URL'],
  ])('%j exits with %i and prints %s', async (args, code, words) => {
    const ended = await run(['read', ...args]);

    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toContain(words);
  });
});

it('accepts the parameters of a read as options', async () => {
  const count = async (...args: string[]) =>
    JSON.parse((await run(['read', post, '--json', ...args])).stdout).postCount;

  const whole = await count();
  expect(await count('--thread', 'off')).toBe(1);
  expect(await count('--thread', '2', '--replies', 'off')).toBe(2);
  expect(await count('--context', 'thread')).toBeLessThan(whole);
  expect((await run(['read', post, '--userinfo', 'author'])).stdout).toContain('4,812 followers');
});

describe('several inputs of perch read', () => {
  it('are printed in their order, and exit with the most severe code', async () => {
    const args = ['read', '@ada.example', '@nobody.example', 'heron', post, '--limit', '1'];

    const ended = await run(args);

    expect(ended.code).toBe(2);
    expect(ended.stdout.match(/^# .*$/gm)).toEqual(['# Ada Fenwick (@ada.example)', thread]);
    expect(ended.stdout).toContain('\n\n# Thread by');
    expect(ended.stderr).toContain('perch: @nobody.example: The sample has no such account.');
    expect(ended.stderr).toContain('Did you mean @heron?');
  });

  it('exit with 1 if one of them is not found, and with 0 if all are found', async () => {
    const missing = await run(['read', '@ada.example', '@nobody.example']);
    const found = await run(['read', '@ada.example', '@harbour.example']);

    expect([missing.code, found.code]).toEqual([1, 0]);
  });

  it('have a line with the input before their JSON, and a line for an error', async () => {
    const inputs = ['@ada.example/followers', '@nobody.example', post];

    const ended = await run(['read', ...inputs, '--json', '--limit', '2']);

    const lines = linesOf(ended.stdout);
    expect(lines.map((line) => Object.keys(line)[0])).toEqual([
      'input',
      'id',
      'id',
      'input',
      'error',
      'input',
      'format',
    ]);
    expect(lines.flatMap(({ input = [] }) => input)).toEqual(inputs);
    expect(lines[4].error).toMatchObject({ code: 'not_found', status: 404 });
  });

  it('can come from standard input, where comments and blank lines are ignored', async () => {
    const stdin = `\ufeff# accounts to read\n\n@ada.example\r\n  harbour.example  \n# ${post}\n`;

    const ended = await run(['read', '-', '--limit', '1'], { stdin });
    const mixed = await run(['read', post, '-', '--limit', '1'], { stdin });
    const nothing = await run(['read', '-'], { stdin: '# nothing\n' });

    expect(ended.stdout.match(/^# .*$/gm)).toEqual([
      '# Ada Fenwick (@ada.example)',
      '# Saltmere Harbour Office (@harbour.example)',
    ]);
    expect(mixed.stdout.match(/^# .*$/gm)).toHaveLength(3);
    expect(nothing).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('are limited in number and length', async () => {
    const long = await run(['read', '-'], { stdin: 'a'.repeat(1_048_577) });
    const many = await run(['read', '-'], { stdin: '@ada.example\n'.repeat(10_001) });

    for (const ended of [long, many]) expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect([long.stderr, many.stderr].join('')).toMatch(/1048576 characters[\s\S]*10000 inputs/);
  });

  it('prints a post or a whole list as one HTML page', async () => {
    const [one, list, two] = [
      await run(['read', post, '--format', 'html']),
      await run(['read', '@ada.example/followers', '--all', '--format', 'html']),
      await run(['read', post, post, '--format', 'html']),
    ];

    expect(one.stdout).toMatch(/^<!doctype html>[\s\S]*<style>[\s\S]*<h1 [\s\S]*<\/html>\n$/);
    expect(list.stdout.match(/<html/g)).toHaveLength(1);
    expect(list.stdout).toContain('Followers of @ada.example');
    expect(list.stdout).not.toContain('Next page');
    expect([two.code, two.stderr]).toEqual([2, expect.stringContaining('one input only')]);
  });

  it('cannot be printed with front matter', async () => {
    const ended = await run(['read', post, post, '--format', 'obsidian']);

    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('one input');
  });
});

describe('perch read --json', () => {
  it('prints a profile before its posts', async () => {
    const [first, ...posts] = linesOf(
      (await run(['read', '@ada.example', '--json', '--limit', '3'])).stdout,
    );

    expect(first.profile).toMatchObject({ screen_name: 'ada.example', name: 'Ada Fenwick' });
    expect(posts.map(({ type }) => type)).toEqual(['status', 'status', 'status']);
  });

  it('prints only the profile with --no-include-posts', async () => {
    const { stdout } = await run(['read', '@ada.example', '--json', '--no-include-posts']);

    expect(linesOf(stdout)).toEqual([
      { profile: expect.objectContaining({ id: expect.any(String) }) },
    ]);
  });

  it('applies the query parameters of a Perch URL', async () => {
    const { stdout } = await run([
      'read',
      'http://localhost:8080/ada.example?limit=2&page=2&format=json',
    ]);
    const { stdout: all } = await run(['read', '@ada.example', '--json', '--limit', '4']);

    expect(linesOf(stdout).slice(1)).toEqual(linesOf(all).slice(3));
  });
});

describe('perch read --output', () => {
  it('replaces the target of a symbolic link, and leaves no temporary file', async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/old.md`, 'old');
    symlinkSync('old.md', `${folder}/link.md`);

    const ended = await run(['read', post, '--output', `${folder}/link.md`]);

    expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(titleOf(readFileSync(`${folder}/old.md`, 'utf8'))).toMatch(/^# Thread by/);
    expect(existsSync(`${folder}/old.md.part`)).toBe(false);
  });

  it('keeps the existing file if the read fails', async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/old.md`, 'old');

    const ended = await run(['read', '@nobody.example', '--output', `${folder}/old.md`]);

    expect(ended.code).toBe(1);
    expect(readFileSync(`${folder}/old.md`, 'utf8')).toBe('old');
    expect(existsSync(`${folder}/old.md.part`)).toBe(false);
  });

  it('never replaces a device', async () => {
    const ended = await run(['read', post, '--output', '/dev/null']);

    expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it.each([
    ['missing/note.md', 'Its folder does not exist.'],
    ['folder', 'It is a folder.'],
  ])('explains why %s cannot be written', async (name, words) => {
    const folder = temporaryFolder();
    mkdirSync(`${folder}/folder`);

    const ended = await run(['read', post, '--output', `${folder}/${name}`]);

    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(words);
  });
});

describe('the command line', () => {
  it.each([
    [['reed', 'ada.example'], 'Did you mean read?'],
    [['serach', 'heron'], 'Did you mean search?'],
    [['archive', 'improt'], 'Did you mean import?'],
    [['keys', 'crate'], 'Did you mean create?'],
    [['sessions', 'lsit'], 'Did you mean list?'],
    [['archive', 'export', '--format', 'mardown'], 'Did you mean markdown?'],
    [['search', 'heron', '--feed', 'lastest'], 'Did you mean latest?'],
    [['search', 'heron', '--platform', 'twitter'], 'Did you mean x?'],
    [['archive', 'export', '--format', 'jsonl'], 'Did you mean ndjson?'],
    [['archive', 'remove', 'wren', '--platform', 'fediverse'], 'Did you mean mastodon?'],
    [['serve', '--port', 'abc'], '--port is "abc", but must be a whole number'],
  ])('refuses %j with the message: %s', async (args, words) => {
    const ended = await run(args);

    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(words);
  });

  it.each([
    [['help'], ['Usage: perch [command]', 'same as `perch serve`', 'perch serve [--port PORT]']],
    [
      ['help', 'keys', 'create'],
      ['Usage: perch keys create --label TEXT', '--allowance N'],
    ],
    [
      ['keys', 'create', '--help'],
      ['Usage: perch keys create --label TEXT', '--notes TEXT'],
    ],
    [
      ['archive', 'import', '-h'],
      ['Usage: perch archive import FILE…', '--form NAME', '--handle'],
    ],
    [
      ['archive', '--help'],
      ['import FILE… [options]', 'perch archive SUBCOMMAND --help'],
    ],
    [
      ['sessions', 'show', '--help'],
      ['Usage: perch sessions show ID', '--json'],
    ],
    [
      ['serve', '--help'],
      ['--port PORT', '--host HOST', 'Overrides PORT.'],
    ],
    [
      ['ask', '--help'],
      ['--corpus PATH', '--session ID', 'Exit code: 0 answered'],
    ],
    [
      ['search', '--help'],
      ['--feed FEED', '--limit N', 'Default latest.'],
    ],
    [
      ['read', '--help'],
      [
        '--thread THREAD',
        '--replies REPLIES',
        '--only-media',
        '--no-include-posts',
        '--output FILE',
      ],
    ],
  ])('prints help for %j', async (args, words) => {
    const ended = await run(args);

    expect(ended).toMatchObject({ code: 0, stderr: '' });
    for (const word of words) expect(ended.stdout).toContain(word);
    for (const line of ended.stdout.split('\n')) expect(line.length).toBeLessThan(125);
  });
});
