import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { answerJson } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { linesOf, runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';
import { hasTerminal, runInTerminal } from '../support/terminal.ts';
import { fxBody, fxStatus, fxUser } from '../support/x-payloads.ts';

const controlling = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u;
const hostile =
  'red \u001b[31m \u001b]52;c;cGF5\u0007 \u009b2J \u0085 \u202egnitirw\u202c \u2067x\u2069 \u007f';

const run = (args: readonly string[], env: Record<string, string>) =>
  runHere(args, { PERCH_DATA_DIR: ':memory:', ...env }, { terminals: ['stdout'] });

function corpus(): string {
  const root = temporaryFolder();
  mkdirSync(`${root}/docs`);
  const text = `# Seals\n\nA seal eats ${hostile} herring.\n\n## Herring ${hostile}\n\nHerring swim.\n`;
  writeFileSync(`${root}/docs/seals\u001b[31m.md`, text);
  return `${root}/docs`;
}

it.each([[[]], [['--json']]])(
  'perch ask %j prints no terminal control characters',
  async (options) => {
    const args = ['ask', 'what does a seal eat', '--corpus', corpus(), ...options];

    const { code, stdout, stderr } = await run(args, {});

    expect(code).toBe(0);
    expect(stdout).toContain('herring');
    expect(stdout + stderr).not.toMatch(controlling);
  },
);

it.each([
  [['x.com/wren/status/20']],
  [['x.com/wren/status/20', '--json']],
  [['x.com/wren/status/20', '--format', 'obsidian']],
  [['x.com/wren/status/20', '--full', '--userinfo', 'all']],
  [['@wren', '--json']],
  [['@wren']],
])('perch read %j prints no terminal control characters', async (args) => {
  const author = fxUser('wren', { name: hostile, description: hostile });
  const status = fxStatus('20', { author, text: hostile, lang: `en${hostile}`, source: hostile });
  const fake = await upstream((request, response) => {
    const { url = '' } = request;
    if (url.startsWith('/2/profile/wren/statuses')) {
      answerJson(response, { code: 200, results: [status], cursor: { top: null, bottom: null } });
    } else if (url.startsWith('/2/profile/')) {
      answerJson(response, { code: 200, message: 'OK', user: author });
    } else answerJson(response, fxBody(status));
  });
  const env = { PERCH_PROVIDERS: 'fxtwitter', PERCH_FXTWITTER_URL: fake.url };

  const { code, stdout, stderr } = await run(['read', ...args], env);

  expect(code).toBe(0);
  expect(stdout).toContain('red');
  expect(stdout + stderr).not.toMatch(controlling);
  if (args.includes('--json')) {
    // The JSON is escaped, so that it still contains the text of the source.
    expect(JSON.stringify(linesOf(stdout))).toContain('\u009b2J');
  }
});

it('prints no terminal control characters from arguments', async () => {
  for (const args of [
    [hostile],
    ['read', hostile],
    ['read', `https://${hostile}`],
    ['read', '--x\u001b[2J'],
  ]) {
    const { code, stdout, stderr } = await run(args, {});

    expect(code).toBe(2);
    expect(stdout + stderr).not.toMatch(controlling);
  }
});

describe.skipIf(!hasTerminal)('perch in a terminal', () => {
  it('shows progress, cuts it to the width of the terminal, and removes it', async () => {
    const printed = await runInTerminal('read @ada.example/followers --limit 1').ended;

    const progress = 'perch: 1 account, 1'; // then “ page, 0 s”
    expect(printed).toContain(`\r${progress}\u001b[K\r\u001b[K# Followers of @ada.example\r\n`);
  });
});
