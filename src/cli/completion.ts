import { withOptions, withSubcommands } from './arguments.ts';
import {
  type Action,
  type BareBody,
  type BareContext,
  type Command,
  exitCodes,
  UsageError,
} from './command.ts';
import { renderBash } from './completion/bash.ts';
import { type Completions, describeCompletions } from './completion/completions.ts';
import { renderFish } from './completion/fish.ts';
import { renderZsh } from './completion/zsh.ts';

interface Shell {
  readonly line: string;
  readonly render: (completions: Completions) => string;
}

const shells: Readonly<Record<string, Shell>> = {
  bash: { line: 'eval "$(perch completion bash)" in ~/.bashrc', render: renderBash },
  zsh: { line: 'eval "$(perch completion zsh)" in ~/.zshrc, after compinit', render: renderZsh },
  fish: { line: 'perch completion fish | source in config.fish', render: renderFish },
};

type LoadCommands = () => Promise<Readonly<Record<string, Command>>>;

export function createCompletionCommand(load: LoadCommands): BareBody {
  const subcommands = Object.entries(shells).map(
    ([name, shell]) => [name, createPrinter(name, shell, load)] as const,
  );
  return {
    isBare: true,
    exits: 'Exit code: 0 printed, 2 bad usage.',
    ...withSubcommands<BareContext>('completion', Object.fromEntries(subcommands)),
  };
}

function createPrinter(name: string, shell: Shell, load: LoadCommands): Action<BareContext> {
  return {
    usage: name,
    about: `Prints the script for ${name}. To enable it: ${shell.line}`,
    ...withOptions({}, (_, positionals) => {
      if (positionals.length > 0) throw new UsageError(`completion ${name} takes no arguments.`);
      return async ({ stdout }: BareContext) => {
        stdout.write(shell.render(describeCompletions(await load())));
        return exitCodes.ok;
      };
    }),
  };
}
