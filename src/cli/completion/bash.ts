import type { ActionCompletions, Completion, Completions } from './completions.ts';

/** Returns a script that also works with bash 3.2, which macOS includes. */
export function renderBash(completions: Completions): string {
  const actions: readonly (readonly [string, ActionCompletions])[] = completions.flatMap(
    (command) => [
      [command.name, command] as const,
      ...command.subcommands.map((action) => [`${command.name} ${action.name}`, action] as const),
    ],
  );
  const values = actions.flatMap(([path, { options }]) =>
    options.flatMap(({ flag, value }) =>
      value === null ? [] : [toCase(`${path} ${flag}`, listValues(value))],
    ),
  );
  return `# Completion of perch for bash. To enable it, add this line to ~/.bashrc: eval "$(perch completion bash)"

# Prints the subcommands of a command or, for paths as arguments, :path.
_perch_arguments() {
  case $1 in
${[toCase('', namesOf(completions)), ...actions.map(([path, action]) => toCase(path, listArguments(action)))].join('')}  esac
}

_perch_options() {
  case $1 in
${actions
  .map(([path, { options }]) =>
    toCase(
      path,
      options.map(({ flag }) => flag),
    ),
  )
  .join('')}  esac
}

# Prints the values of an option: words, :path or :text. Prints nothing for an option without a value.
_perch_values() {
  case "$1 $2" in
${values.join('')}  esac
}

_perch() {
  local IFS=$'\\n' current=\${COMP_WORDS[COMP_CWORD]} command='' option='' ended='' word index values
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if [[ -n $ended ]]; then
      continue
    elif [[ -n $option ]]; then
      # bash splits --option=value into three words.
      [[ $word == '=' ]] || option=''
    elif [[ $word == -- ]]; then
      ended=yes
    elif [[ $word == -* ]]; then
      [[ -z $(_perch_values "\${command:-serve}" "$word") ]] || option=$word
    elif [[ $IFS$(_perch_arguments "$command")$IFS == *"$IFS$word$IFS"* ]]; then
      command="\${command:+$command }$word"
    fi
  done
  [[ $current != '=' ]] || current=''
  if [[ -n $option ]]; then
    values=$(_perch_values "\${command:-serve}" "$option")
  elif [[ -z $ended && $current == -* ]]; then
    values=$(_perch_options "\${command:-serve}")
    [[ -n $command ]] || values+=$'\\n--version'
  else
    values=$(_perch_arguments "$command")
  fi
  COMPREPLY=()
  case $values in
    :path)
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$current"))
      ;;
    :text) ;;
    *) COMPREPLY=($(compgen -W "$values" -- "$current")) ;;
  esac
}

complete -F _perch perch
`;
}

function toCase(pattern: string, words: readonly string[]): string {
  if (words.length === 0) return '';
  return `    ${quote(pattern)}) printf '%s\\n' ${words.map(quote).join(' ')} ;;\n`;
}

const quote = (text: string) =>
  /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const namesOf = (actions: Completions) => actions.map(({ name }) => name);

function listArguments({ subcommands, argument }: ActionCompletions): readonly string[] {
  if (subcommands.length > 0) return namesOf(subcommands);
  return argument.kind === 'path' ? [':path'] : [];
}

function listValues(value: Completion): readonly string[] {
  return value.kind === 'words' ? value.words : [`:${value.kind}`];
}
