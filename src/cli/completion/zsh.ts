import type {
  ActionCompletions,
  Completion,
  Completions,
  OptionCompletion,
} from './completions.ts';

export function renderZsh(completions: Completions): string {
  const functions = completions.flatMap((command) =>
    command.subcommands.length === 0
      ? [renderAction(`_perch_${command.name}`, command)]
      : [
          renderChoice(`_perch_${command.name}`, command.subcommands, command.options),
          ...command.subcommands.map((action) =>
            renderAction(`_perch_${command.name}_${action.name}`, action),
          ),
        ],
  );
  // Without a command, `perch` accepts the options of `serve`.
  const serve = completions.find(({ name }) => name === 'serve')?.options ?? [];
  const version = { flag: '--version', about: 'Prints the version', value: null };
  return `#compdef perch
# Completion of perch for zsh. To enable it, add this line to ~/.zshrc, after compinit: eval "$(perch completion zsh)"

${functions.join('\n')}
${renderChoice('_perch', completions, [...serve, version])}
# zsh runs a file in fpath on the first completion. With eval, the function is only registered.
if [[ \${funcstack[1]} == _perch ]]; then _perch "$@"; else compdef _perch perch; fi
`;
}

function renderChoice(
  name: string,
  actions: Completions,
  options: readonly OptionCompletion[],
): string {
  const described = actions.map((action) => `      ${quote(`${action.name}:${action.about}`)}`);
  return `${name}() {
  local curcontext=$curcontext state line
  local -a commands
  _arguments -C ${options.map(toSpec).join(' ')} '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      commands=(
${described.join('\n')}
      )
      _describe command commands
      ;;
    argument) (( ! $+functions[${name}_$words[1]] )) || ${name}_$words[1] ;;
  esac
}
`;
}

function renderAction(name: string, { options, argument }: ActionCompletions): string {
  const specs = [...options.map(toSpec), quote(`*:${toMessage(argument)}`)];
  return `${name}() {\n  _arguments ${specs.join(' ')}\n}\n`;
}

function toSpec({ flag, about, value }: OptionCompletion): string {
  const text = about.replaceAll(/[\\[\]]/g, '\\$&');
  return quote(
    `${flag}${value === null ? '' : '='}[${text}]${value === null ? '' : `:${toMessage(value)}`}`,
  );
}

function toMessage(value: Completion): string {
  if (value.kind === 'words') return `${value.name}:(${value.words.join(' ')})`;
  return `${value.name}:${value.kind === 'path' ? '_files' : ' '}`;
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
