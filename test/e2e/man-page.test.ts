import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ActionHelp } from '../../src/cli/command.ts';
import { loadCommands } from '../../src/cli/commands.ts';
import { variables } from '../../src/config/config.ts';
import { requireProgram, run, save } from '../support/config-checkers.ts';

const path = 'man/perch.1';

describe('the manual page', () => {
  it('passes mandoc without a warning', ({ skip }) => {
    requireProgram('mandoc', skip);
    const lint = (file: string) => run('mandoc', '-Tlint', '-Wstyle', file);
    const broken = save('perch.1', readFileSync(path, 'utf8').replace('.Sh NAME', '.Sx NAME'));

    expect(lint(path)).toBe('');
    expect(lint(broken)).not.toBe('');
  });

  it('shows every command, option and variable to readers', async ({ skip }) => {
    requireProgram('mandoc', skip);
    const commands = Object.values(await loadCommands());
    const actions: readonly ActionHelp[] = commands.flatMap((command) => [
      command,
      ...Object.values(command.subcommands ?? {}),
    ]);
    const flags = actions.flatMap(({ options = {} }) =>
      Object.entries(options).map(([name, one]) => `--${one.isNegative ? 'no-' : ''}${name}`),
    );
    // Bold characters are printed twice, with a backspace between them.
    const printed = execFileSync('mandoc', ['-Tascii', path], { encoding: 'utf8' });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the backspace
    const text = printed.replaceAll(/.\u0008/g, '');

    const wanted = [...flags, ...Object.keys(variables.shape), 'keys create', 'archive import'];
    expect(wanted.filter((word) => !text.includes(word))).toEqual([]);
  });
});
