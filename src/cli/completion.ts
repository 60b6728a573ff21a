import {
  type ActionHelp,
  type BareBody,
  type BareContext,
  type Command,
  type CommandOption,
  globalOptions,
  withoutArguments,
  withSubcommands,
} from './command.ts';

type Commands = Readonly<Record<string, Command>>;

export function createCompletionCommand(load: () => Promise<Commands>): BareBody {
  const subcommands = Object.entries(shells).map(([name, { line, render }]) => {
    const print = async ({ stdout }: BareContext) => {
      const head = `# Completion of perch for ${name}. To enable it: ${line}\n`;
      stdout.write(render(head, renderFunctions(listCompletions(await load()))));
    };
    const plan = withoutArguments(`completion ${name}`, {}, () => print);
    const about = `Prints the script for ${name}. To enable it: ${line}`;
    return [name, { usage: name, about, ...plan }] as const;
  });
  return {
    isBare: true,
    exits: 'Exit code: 0 printed, 2 bad usage.',
    ...withSubcommands<BareContext>('completion', Object.fromEntries(subcommands)),
  };
}

/** Word that can follow `after`, the names of a command and its subcommand. */
interface Completion {
  readonly after: string;
  /** Name or option; `:path` if the arguments are paths. */
  readonly word: string;
  /** `:command`, or the value of an option: words, or `:path`, `:text` or `:none`. */
  readonly value: string;
  readonly about: string;
}

export function listCompletions(commands: Commands): readonly Completion[] {
  const { serve } = commands;
  return [
    ...listActions('', commands),
    // Without a command, `perch` accepts the options of `serve`.
    ...(serve === undefined ? [] : listWords('', serve)),
    { after: '', word: '--version', value: ':none', about: 'Prints the version' },
    ...Object.entries(commands).flatMap(([name, { subcommands = {} }]) =>
      listActions(name, subcommands),
    ),
  ];
}

function listActions(after: string, actions: Readonly<Record<string, ActionHelp>>) {
  return Object.entries(actions).flatMap(([word, action]): readonly Completion[] => [
    { after, word, value: ':command', about: toFirstSentence(action.about) },
    ...listWords(`${after} ${word}`.trim(), action),
  ]);
}

function listWords(after: string, { usage, options }: ActionHelp): readonly Completion[] {
  const all = Object.entries({ ...options, ...globalOptions });
  return [
    ...all.map(([name, option]: [string, CommandOption]) => ({
      after,
      word: `${option.isNegative === true ? '--no-' : '--'}${name}`,
      value: toValue(option),
      about: toFirstSentence(option.about),
    })),
    { after, word: '--help', value: ':none', about: 'Prints the help of a command' },
    ...(/\bFILE\b/.test(usage) ? [{ after, word: ':path', value: ':none', about: '' }] : []),
  ];
}

function toValue({ type, value = 'VALUE', choices }: CommandOption): string {
  if (type === 'boolean') return ':none';
  if (choices !== undefined) return choices.join(' ');
  return ['FILE', 'PATH', 'DIR'].includes(value) ? ':path' : ':text';
}

function toFirstSentence(text: string): string {
  return /^.*?(?=\.(?:\s|$)|$)/.exec(text)?.[0] ?? text;
}

/**
 * Returns functions for all POSIX shells. `_perch_complete WORD… CURRENT` prints the words that can
 * replace the last one, each with a tab and a description, or `:path`.
 */
function renderFunctions(completions: readonly Completion[]): string {
  const places = [...new Set(completions.map(({ after }) => after))];
  const cases = places.map((place) => {
    const rows = completions.filter(({ after }) => after === place);
    const texts = rows.map(({ word, value, about }) => quote(`${word}\t${value}\t${about}`));
    return `    ${quote(place)}) printf '%s\\n' ${texts.join(' ')} ;;\n`;
  });
  return `_perch_words() {
  case $1 in
${cases.join('')}  esac
}
_perch_value() {
  _perch_words "$1" | while IFS='\t' read -r word value about; do
    [ "$word" != "$2" ] || printf '%s' "$value"
  done
}
_perch_complete() {
  local IFS=' ' after='' option='' ended='' prefix='' kind=argument word value about
  while [ $# -gt 1 ]; do
    if [ -n "$option" ]; then
      # bash splits --option=value into three words.
      [ "$1" = '=' ] || option=''
    elif [ "$1" = '--' ]; then
      ended=yes
    elif [ -z "$ended" ]; then
      value=$(_perch_value "$after" "$1")
      case $value in
        '' | :none) ;;
        :command) after="\${after:+$after }$1" ;;
        *) option=$1 ;;
      esac
    fi
    shift
  done
  case $option$ended$1 in --*=*) option=\${1%%=*} prefix=\${1%%=*}= ;; esac
  if [ -n "$option" ]; then
    value=$(_perch_value "$after" "$option")
    case $value in
      :path) printf '%s\\n' :path ;;
      :*) ;;
      *) for word in $value; do printf '%s\\n' "$prefix$word"; done ;;
    esac
    return
  fi
  case $ended$1 in -*) kind=option ;; esac
  _perch_words "$after" | while IFS='\t' read -r word value about; do
    case $kind$word in
      argument-* | option[!-]*) ;;
      *:path) printf '%s\\n' :path ;;
      *) printf '%s\\t%s\\n' "$word" "$about" ;;
    esac
  done
}
`;
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

interface Shell {
  readonly line: string;
  readonly render: (head: string, functions: string) => string;
}

const shells: Readonly<Record<string, Shell>> = {
  bash: {
    line: 'eval "$(perch completion bash)" in ~/.bashrc',
    // Also works with bash 3.2, which macOS includes.
    render: (head, functions) => `${head}${functions}_perch() {
  local IFS=$'\\n' words current=\${COMP_WORDS[COMP_CWORD]}
  [[ $current != '=' ]] || current=''
  words=$(_perch_complete "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$current" | cut -f 1)
  if [[ $words == :path ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -F _perch perch
`,
  },
  zsh: {
    line: 'eval "$(perch completion zsh)" in ~/.zshrc, after compinit',
    // zsh runs a file in fpath on the first completion. With eval, the function is only registered.
    render: (head, functions) => `#compdef perch
${head}${functions}_perch() {
  local -a before=("\${(@)words[2,CURRENT-1]}")
  local -a found=("\${(@f)$(emulate sh; _perch_complete "\${before[@]}" "$PREFIX")}")
  if [[ $found == :path ]]; then
    compset -P '--*='
    _files
  elif [[ -n $found ]]; then
    found=("\${(@)found/$'\\t'/:}")
    _describe word found
  fi
}
if [[ \${funcstack[1]} == _perch ]]; then _perch "$@"; else compdef _perch perch; fi
`,
  },
  fish: {
    line: 'perch completion fish | source in config.fish',
    // In fish, backslashes and quotes are escaped within single quotes.
    render: (head, functions) => `${head}function __perch_complete
  set -l current (commandline -ct)
  set -l found (sh -c '${`${functions}_perch_complete "$@"`.replaceAll(/[\\']/g, '\\$&')}' (commandline -opc) "$current")
  if test "$found" = :path
    set -l option (string match -r -- '^--[^=]*=' $current)
    for path in (__fish_complete_path (string replace -- "$option" '' $current))
      echo "$option$path"
    end
  else
    string join \\n -- $found
  end
end
complete -c perch -f -a '(__perch_complete)'
`,
  },
};
