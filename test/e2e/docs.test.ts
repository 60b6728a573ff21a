import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, it } from 'vitest';
import { runCommand } from '../../src/cli/run.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { buildTestApp, type TestApp } from '../support/build-app.ts';
import {
  type Command,
  type DocExample,
  isShown,
  parseCurl,
  parseDocPage,
} from '../support/doc-examples.ts';
import { createScriptedEngine } from '../support/scripted-engine.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const folders = ['docs', 'docs/contract'];
const paths = [
  'README.md',
  ...folders.flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`)),
].filter((path) => path.endsWith('.md'));
const pages = paths.map((path) => ({ path, ...parseDocPage(readFileSync(path, 'utf8')) }));

/** What the commands and the server run with: nothing on disk, no network. */
const offline = {
  PERCH_DATA_DIR: ':memory:',
  PERCH_FXTWITTER_URL: 'http://127.0.0.1:9',
  PERCH_SYNDICATION_URL: 'http://127.0.0.1:9',
  PERCH_BLUESKY_URL: 'http://127.0.0.1:9',
};

const baseUrl = 'http://localhost:8080';

/** Builds the server that an example starts or expects; its answers are quick. */
function buildDocumentedApp(env: DocExample['env']): Promise<TestApp> {
  return buildTestApp({
    env: { PERCH_SESSIONS: 'on', ...env },
    clock: systemClock,
    engine: createScriptedEngine(),
  });
}

/** Runs the commands of an example one after the other and gives what a terminal would show. */
async function runPlainly({ commands, env, output, remark }: DocExample): Promise<string> {
  let app: Promise<TestApp> | undefined;
  const printed: string[] = [];
  for (const command of commands) {
    printed.push(command.words[0] === 'curl' ? await ask(command) : await runPerch(command));
  }
  return printed.map((text) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)).join('');

  async function ask({ words }: Command): Promise<string> {
    const { url, method, headers, shows } = parseCurl(words.slice(1));
    expect(url.startsWith(`${baseUrl}/`), url).toBe(true);
    app ??= buildDocumentedApp(env);
    const reply = await (await app).request(url.slice(baseUrl.length), { method, headers });
    if (output === undefined) expectStatus(url, reply.statusCode, remark);
    const fields = Object.entries(reply.headers).map(([name, value]) => `${name}: ${value}\n`);
    const head = `HTTP/1.1 ${reply.statusCode} ${reply.statusMessage}\n${fields.join('')}\n`;
    return `${shows.has('headers') ? head : ''}${shows.has('body') ? reply.body : ''}`;
  }

  async function runPerch({ words, env: own }: Command): Promise<string> {
    let shown = '';
    const terminal = { write: (text: string) => (shown += text) };
    const surroundings = {
      env: { ...offline, ...env, ...own },
      stdout: terminal,
      stderr: terminal,
    };
    const code = await runCommand(words.slice(2), surroundings);
    if (output === undefined) expect({ code, shown }).toMatchObject({ code: 0 });
    return withoutWaiting(shown);
  }
}

/** Whoever has no network gets 503 for what needs one, and the page says so. The sample's handles end in `.example`. */
function expectStatus(url: string, status: number, remark: string): void {
  const isRemarked = remark.includes('Without a network') && !/\.example(?![\w.])/.test(url);
  expect({ url, status }).toEqual({ url, status: isRemarked ? 503 : 200 });
}

const hasShell = ['bash', 'curl'].every((name) => spawnSync(name, ['--version']).status === 0);

async function listenDocumented(env: DocExample['env']): Promise<string> {
  const app = await buildDocumentedApp(env);
  return new URL(await app.server.listen({ host: '127.0.0.1', port: 0 })).port;
}

/** Runs an example in a shell; `curl` reaches a server of this test at the address that the page says. */
async function runInShell({ script, env }: DocExample): Promise<string> {
  const port = script.includes('curl') ? await listenDocumented(env) : '9';
  const prelude = `
    curl() { command curl -sS --max-time 120 --connect-to localhost:8080:127.0.0.1:${port} "$@"; }
    node() { shift; command node '${inject('perchMain')}' "$@"; }
    npx() { shift; command node '${inject('perchMain')}' "$@"; }
    exec 2>&1
  `;
  const { stdout } = await promisify(execFile)('bash', ['-c', `${prelude}\n${script}`], {
    cwd: temporaryFolder(),
    env: { PATH: process.env.PATH ?? '', ...offline, ...env },
    timeout: 150_000,
  });
  return withoutWaiting(stdout);
}

/** Leaves out what only those see whose machine takes more than a second for the index. */
function withoutWaiting(shown: string): string {
  return shown.replaceAll(/^perch: Building the index: \d+ files read\n/gm, '');
}

describe.each(pages)('$path', ({ path, examples, faults }) => {
  it('has nothing in its blocks that nobody runs', () => {
    expect(faults).toEqual([]);
  });

  it('links to what is there', () => {
    const text = readFileSync(path, 'utf8').replaceAll(/^```.*\n(?:.*\n)*?```$/gm, '');
    const targets = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, to]) => to ?? '');
    const broken = targets.filter((target) => !isThere(path, target));

    expect(broken).toEqual([]);
  });

  const named = examples.map((example) => ({
    ...example,
    first: example.script.split('\n', 1)[0],
  }));
  const timeout = 60_000;
  const plain = named.filter(({ needsShell }) => !needsShell);
  it.each(plain)('line $line: $first', { timeout }, async (example) => {
    const printed = await runPlainly(example);

    expectShown(example, printed);
  });

  const scripts = named.filter(({ needsShell }) => needsShell);
  it.skipIf(!hasShell).each(scripts)('line $line: $first', { timeout }, async (example) => {
    const printed = await runInShell(example);

    expectShown(example, printed);
  });
});

/** Where something else was printed, the comparison as a whole shows what. */
function expectShown({ output }: DocExample, printed: string): void {
  if (output !== undefined && !isShown(output, printed)) expect(printed).toBe(output);
}

function isThere(from: string, target: string): boolean {
  const [file = '', fragment] = target.split('#');
  const to = file === '' ? from : join(dirname(from), file);
  if (!existsSync(to) || fragment === undefined) return existsSync(to);
  const names = readFileSync(to, 'utf8').match(/^#+ .*$/gm) ?? [];
  return names.some((name) => toFragment(name) === fragment);
}

/** As GitHub names a heading. */
function toFragment(heading: string): string {
  return heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

it.each([
  ['```sh no-run="needs Docker"\ndocker ps\n```\n', []],
  ['```sh no-run\ndocker ps\n```\n', ['line 1']],
  ['```sh no-run=""\ndocker ps\n```\n', ['line 1']],
  ['text\n\n```json later\n{}\n```\n', ['line 3']],
])('a mark after the language of a block has a reason: %j', (page, expected) => {
  const { examples, faults } = parseDocPage(page);

  expect(examples).toEqual([]);
  expect(faults.map((fault) => fault.split(':')[0])).toEqual(expected);
});

it.each([
  ['a\nb', 'a\nb\n', true],
  ['a\nb', 'a\nc', false],
  ['a\n…', 'a\nb\nc', true],
  ['a\n…', 'a', true],
  ['…\nc', 'a\nb\nc', true],
  ['…\nb', 'a\nb\nc', false],
  ['a\n…\nc', 'a\nb\nc', true],
  ['a\n…\nd\n…', 'a\nb\nc', false],
  ['a\nb', 'a\nb\nc', false],
  ['{"x":1,…}', '{"x":1,"y":2}', true],
  ['{"x":1,…}', '{"x":2,"y":2}', false],
  ['a.c', 'abc', false],
])('what an example shows is %j of %j: %s', (output, actual, expected) => {
  const shown = isShown(output, actual);

  expect(shown).toBe(expected);
});
