import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadCommands } from '../../src/cli/commands.ts';
import { listCompletions } from '../../src/cli/completion.ts';
import { requireProgram, save } from '../support/config-checkers.ts';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

type Complete = (script: string, line: string, folder: string) => string;

const pathOf = (name: string) => resolve('test/support/shells', name);

/** Prints the completions of a command line, one in each line, as the shell computes them. */
const shells: Readonly<Record<string, Complete>> = {
  bash: (script, line, cwd) => {
    // bash splits words at `=` too.
    const words = line.split(/ |(?<==)|(?==)/);
    return execFileSync('bash', [pathOf('complete.bash'), script, ...words], {
      cwd,
      encoding: 'utf8',
      timeout: 60_000,
    });
  },
  zsh: (script, line, cwd) => {
    const printed = execFileSync('zsh', ['-f', pathOf('complete.zsh'), script, line], {
      cwd,
      encoding: 'utf8',
      timeout: 60_000,
    });
    return [...printed.matchAll(/HIT:([^\r\n]+)/g)].map(([, word]) => word).join('\n');
  },
  fish: (script, line, cwd) => {
    const commands = 'source $argv[1]; complete -C $argv[2]';
    const args = ['--no-config', '-c', commands, '--', script, line];
    const env = { PATH: process.env.PATH, HOME: temporaryFolder() };
    const printed = execFileSync('fish', args, { cwd, env, encoding: 'utf8', timeout: 60_000 });
    return printed.replaceAll(/\t.*$/gm, '');
  },
};

/** Command lines, and completions that every shell must offer, as regular expressions of the lines. */
const lines: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['perch re', ['read'], ['search']],
  ['perch ', ['serve', 'read', 'keys', 'completion'], ['--port', 'create']],
  ['perch --p', ['--port'], ['--config']],
  ['perch keys ', ['create', 'rotate'], ['import', 'serve']],
  ['perch keys cr', ['create'], ['rotate']],
  ['perch keys create --', ['--label', '--allowance', '--config', '--help'], ['--thread']],
  ['perch archive import --fo', ['--form'], ['--format']],
  ['perch read --thr', ['--thread'], ['--replies']],
  ['perch read --thread ', ['off', 'full', 'conversation', 'whole'], ['--thread', 'markdown']],
  ['perch read --thread f', ['full'], ['off']],
  ['perch read --limit 3 --thread ', ['off', 'full'], ['3']],
  ['perch read --platform x --thread ', ['off', 'full'], []],
  ['perch archive export --format ', ['ndjson', 'markdown'], ['obsidian']],
  ['perch completion ', ['bash', 'zsh', 'fish'], []],
  ['perch --config no', ['(?:\\S*/)?notes\\.env'], ['read']],
  ['perch read --output no', ['(?:\\S*/)?notes\\.env'], ['read']],
  ['perch archive import no', ['(?:\\S*/)?notes\\.env', '(?:\\S*/)?north/?'], ['import']],
  ['perch keys create --label ', [], ['create', 'notes.env']],
  ['perch read --thread=f', ['(?:--thread=)?full'], ['off', '--thread=off']],
  ['perch read --output=no', ['(?:--output=)?(?:\\S*/)?notes\\.env'], ['read']],
  ['perch archive import -- no', ['(?:\\S*/)?notes\\.env'], []],
];

describe.each(Object.entries(shells))('perch completion %s', (shell, complete) => {
  it('completes commands, options, values and files', async ({ skip }) => {
    requireProgram(shell, skip);
    const printed = await spawnPerch(['completion', shell]).ended;
    const script = save(`perch.${shell}`, printed.stdout);
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'notes.env'), '');
    mkdirSync(join(folder, 'north'));

    for (const [line, wanted, unwanted] of lines) {
      const words = complete(script, line, folder).split('\n');
      const patterns = wanted.map((word) => expect.stringMatching(new RegExp(`^${word}$`)));
      expect(words, line).toEqual(expect.arrayContaining(patterns));
      expect(
        words.filter((word) => unwanted.includes(word)),
        line,
      ).toEqual([]);
    }
    expect(printed).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('the table of completions', () => {
  it('has every command and option, with values that need no quotation marks', async () => {
    const commands = await loadCommands();
    const completions = listCompletions(commands);
    const names = completions.filter(({ after, value }) => after === '' && value === ':command');
    const words = completions.flatMap(({ word, value }) => [word, ...value.split(' ')]);

    expect(names.map(({ word }) => word)).toEqual(Object.keys(commands));
    expect(words.filter((word) => !/^(?:[\w.-]+|:[a-z]+)$/.test(word))).toEqual([]);
    const described = completions.filter(({ word }) => word !== ':path');
    expect(described.filter(({ about }) => !/^[^\n\t]+$/.test(about))).toEqual([]);
  });

  it('offers the values that each option accepts', async () => {
    const completions = listCompletions(await loadCommands());
    const offered = completions.map(({ after, word, value }) => [
      `${after} ${word}`,
      value.split(' '),
    ]);

    expect(Object.fromEntries(offered)).toMatchObject({
      'read --thread': ['off', 'full', 'conversation', 'whole'],
      'read --platform': ['x', 'bluesky', 'mastodon', 'activitypub', 'sample'],
      'search --feed': expect.arrayContaining(['latest', 'users']),
      'archive remove --platform': ['x', 'bluesky', 'mastodon', 'activitypub'],
    });
  });
});
