import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../src/cli/run.ts';
import { startFakeFxTwitter } from '../support/fake-fxtwitter.ts';
import { answerJson } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';
import { fxBody, fxStatus, fxUser } from '../support/x-payloads.ts';

const id = '1900000000000000001';
const post = `http://localhost:8080/ada.example/status/${id}`;

interface Setting {
  readonly env?: Record<string, string>;
  readonly stdin?: string;
}

/** Runs a command in this process, with an archive that is gone afterwards. */
async function run(args: readonly string[], { env = {}, stdin = '' }: Setting = {}) {
  const written = { stdout: '', stderr: '' };
  const code = await runCommand(args, {
    env: { PERCH_DATA_DIR: ':memory:', PERCH_PROVIDERS: 'archive', ...env },
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
  });
  return { code, ...written };
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

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
  ])('%j asks for the post 20 of X', async (args) => {
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
  ])('%j asks X at %s', async (args, path) => {
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
    [['ada'], 2, 'did you mean @ada?'],
    [['two words'], 2, 'use perch search'],
    [['1900000000000000001'], 2, 'needs --platform x'],
    [['https://t.co/abc'], 2, 't.co'],
    [['https://x.com/home'], 2, 'not the URL of a post, an account or a search'],
    [['3kabc', '--platform', 'bluesky'], 2, '@HANDLE/status/ID'],
    [['ada.example', '--platform', 'x'], 2, 'neither an id nor a handle of X'],
    [['ada.example', '--platform', 'blusky'], 2, 'did you mean bluesky?'],
    [['http://localhost:9999/ada.example'], 2, 'names a port'],
    [['ada.example', '--thread', 'off'], 2, '--thread is for a post'],
    [[post, '--only-media'], 2, '--only-media is for a profile'],
    [[post, '--feed', 'top'], 2, '--feed is for a search'],
    [[post, '--thread', 'ful'], 2, 'did you mean full?'],
    [[post, '--replies', 'tpo'], 2, 'did you mean top?'],
    [[post, '--formt', 'json'], 2, 'did you mean --format?'],
    [['ada.example', '--with-replys'], 2, 'did you mean --with-replies?'],
    [['ada.example', 'harbour.example', '--json', '--format', 'markdown'], 2, 'contradict'],
    [['-', '-'], 2, 'give one -'],
    [['http://localhost:8080/docs/start'], 2, 'not the URL'],
  ])('%j ends with %i and says %s', async (args, code, words) => {
    const ended = await run(['read', ...args]);

    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toContain(words);
  });
});

it('takes the parameters of the read as options', async () => {
  const count = async (...args: string[]) =>
    JSON.parse((await run(['read', post, '--json', ...args])).stdout).postCount;

  const whole = await count();
  expect(await count('--thread', 'off')).toBe(1);
  expect(await count('--thread', '2', '--replies', 'off')).toBe(2);
  expect(await count('--context', 'thread')).toBeLessThan(whole);
  expect((await run(['read', post, '--userinfo', 'author'])).stdout).toContain('4,812 followers');
});

describe('several inputs of perch read', () => {
  it('are printed in their order, and the worst exit code counts', async () => {
    const args = ['read', '@ada.example', '@nobody.example', 'heron', post, '--limit', '1'];

    const ended = await run(args);

    expect(ended.code).toBe(2);
    expect(ended.stdout.match(/^# .*$/gm)).toEqual(['# Ada Fenwick (@ada.example)', thread]);
    expect(ended.stdout).toContain('\n\n# Thread by');
    expect(ended.stderr).toContain('perch: @nobody.example: The sample has no such account.');
    expect(ended.stderr).toContain('did you mean @heron?');
  });

  it('end with 1 if one of them is not found, and with 0 if all are', async () => {
    const missing = await run(['read', '@ada.example', '@nobody.example']);
    const found = await run(['read', '@ada.example', '@harbour.example']);

    expect([missing.code, found.code]).toEqual([1, 0]);
  });

  it('are told apart in JSON by a line before each, and a failure has a line', async () => {
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

  it('come from standard input, without comments and blank lines', async () => {
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

  it('have a bound', async () => {
    const long = await run(['read', '-'], { stdin: 'a'.repeat(1_048_577) });
    const many = await run(['read', '-'], { stdin: '@ada.example\n'.repeat(10_001) });

    for (const ended of [long, many]) expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect([long.stderr, many.stderr].join('')).toMatch(/1048576 characters[\s\S]*10000 inputs/);
  });

  it('cannot all have front matter on top', async () => {
    const ended = await run(['read', post, post, '--format', 'obsidian']);

    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('one input');
  });
});

describe('perch read --json', () => {
  it('of a profile begins with the profile', async () => {
    const [first, ...posts] = linesOf(
      (await run(['read', '@ada.example', '--json', '--limit', '3'])).stdout,
    );

    expect(first.profile).toMatchObject({ screen_name: 'ada.example', name: 'Ada Fenwick' });
    expect(posts.map(({ type }) => type)).toEqual(['status', 'status', 'status']);
  });

  it('of a profile alone is the profile', async () => {
    const { stdout } = await run(['read', '@ada.example', '--json', '--no-include-posts']);

    expect(linesOf(stdout)).toEqual([
      { profile: expect.objectContaining({ id: expect.any(String) }) },
    ]);
  });

  it('honours the parameters of an address of the own server', async () => {
    const { stdout } = await run([
      'read',
      'http://localhost:8080/ada.example?limit=2&page=2&format=json',
    ]);
    const { stdout: all } = await run(['read', '@ada.example', '--json', '--limit', '4']);

    expect(linesOf(stdout).slice(1)).toEqual(linesOf(all).slice(3));
  });
});

describe('perch read --output', () => {
  it('writes the file as a whole, and through a link', async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/old.md`, 'old');
    symlinkSync('old.md', `${folder}/link.md`);

    const ended = await run(['read', post, '--output', `${folder}/link.md`]);

    expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(titleOf(readFileSync(`${folder}/old.md`, 'utf8'))).toMatch(/^# Thread by/);
    expect(existsSync(`${folder}/old.md.part`)).toBe(false);
  });

  it('leaves the file as it was when nothing can be read', async () => {
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
    ['missing/note.md', 'the folder that it would be in is missing'],
    ['folder', 'it is a folder'],
  ])('says why %s cannot be written', async (name, words) => {
    const folder = temporaryFolder();
    mkdirSync(`${folder}/folder`);

    const ended = await run(['read', post, '--output', `${folder}/${name}`]);

    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(words);
  });
});

describe('the command line', () => {
  it.each([
    [['reed', 'ada.example'], 'did you mean read?'],
    [['serach', 'heron'], 'did you mean search?'],
    [['archive', 'improt'], 'did you mean import?'],
    [['keys', 'crate'], 'did you mean create?'],
    [['sessions', 'lsit'], 'did you mean list?'],
    [['archive', 'export', '--format', 'mardown'], 'did you mean markdown?'],
    [['search', 'heron', '--feed', 'lastest'], 'did you mean latest?'],
    [['search', 'heron', '--platfrom', 'x'], 'did you mean --platform?'],
    [['keys', 'create', '--lable', 'a'], 'did you mean --label?'],
    [['serve', '--prot', '1'], 'did you mean --port?'],
    [['--prot', '1'], 'did you mean --port?'],
    [['serve', '--port', 'abc'], '--port="abc": must be a whole number'],
  ])('answers %j with the question: %s', async (args, words) => {
    const ended = await run(args);

    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(words);
  });

  it.each([
    [['help'], ['Usage: perch [command]', '`perch` is `perch serve`', 'perch serve [--port PORT]']],
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
      ['--port PORT', '--host HOST', 'in place of PORT'],
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
  ])('explains itself to %j', async (args, words) => {
    const ended = await run(args);

    expect(ended).toMatchObject({ code: 0, stderr: '' });
    for (const word of words) expect(ended.stdout).toContain(word);
    for (const line of ended.stdout.split('\n')) expect(line.length).toBeLessThan(125);
  });
});
