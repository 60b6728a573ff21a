import type {
  ActionCompletions,
  Completion,
  Completions,
  OptionCompletion,
} from './completions.ts';

/** Returns a script for fish 3.0 or newer that completes the commands of perch. */
export function renderFish(completions: Completions): string {
  const names = completions.map(({ name }) => name);
  const first = `not __fish_seen_subcommand_from ${names.join(' ')}`;
  const lines = [
    ...completions.map(({ name, about }) => toLine(first, `-f -a ${name}`, about)),
    toLine(first, '-f -l version', 'Prints the version'),
    ...completions.flatMap((command) => completeCommand(command, first)),
  ];
  return `# Completion of perch for fish. To enable it, add this line to config.fish: perch completion fish | source
complete -c perch -f
${lines.join('\n')}
`;
}

function completeCommand(command: ActionCompletions, first: string): readonly string[] {
  const { name, options, subcommands } = command;
  const seen = `__fish_seen_subcommand_from ${name}`;
  const words = subcommands.map((subcommand) => subcommand.name);
  // Without a command, `perch` accepts the options of `serve`.
  const conditions = name === 'serve' ? [seen, first] : [seen];
  const open =
    words.length === 0 ? seen : `${seen}; and not __fish_seen_subcommand_from ${words.join(' ')}`;
  return [
    ...(words.length > 0 ? [] : completeArguments(command, open)),
    ...subcommands.map((subcommand) => toLine(open, `-f -a ${subcommand.name}`, subcommand.about)),
    ...(words.length > 0 ? [open] : conditions).flatMap((condition) =>
      options.map((option) => completeOption(option, condition)),
    ),
    ...subcommands.flatMap((subcommand) => {
      const chosen = `${seen}; and __fish_seen_subcommand_from ${subcommand.name}`;
      return [
        ...completeArguments(subcommand, chosen),
        ...subcommand.options.map((option) => completeOption(option, chosen)),
      ];
    }),
  ];
}

function completeArguments({ argument }: ActionCompletions, condition: string): readonly string[] {
  return argument.kind === 'path' ? [toLine(condition, '-F')] : [];
}

function completeOption({ flag, about, value }: OptionCompletion, condition: string): string {
  return toLine(condition, `-l ${flag.slice(2)}${value === null ? '' : toArguments(value)}`, about);
}

function toArguments(value: Completion): string {
  if (value.kind === 'words') return ` -x -a ${quote(value.words.join(' '))}`;
  return value.kind === 'path' ? ' -r -F' : ' -x';
}

function toLine(condition: string, rest: string, about = ''): string {
  const description = about === '' ? '' : ` -d ${quote(about)}`;
  return `complete -c perch -n ${quote(condition)} ${rest}${description}`;
}

const quote = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
