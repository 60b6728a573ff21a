import { globalOptions } from '../arguments.ts';
import type { ActionHelp, Command, CommandOption } from '../command.ts';

/** Completion of a value or argument: a path, one of several words, or none. */
export type Completion =
  | { readonly kind: 'path' | 'text'; readonly name: string }
  | { readonly kind: 'words'; readonly name: string; readonly words: readonly string[] };

/** Option. `flag` includes the leading hyphens; `value` is `null` if the option takes none. */
export interface OptionCompletion {
  readonly flag: string;
  readonly about: string;
  readonly value: Completion | null;
}

export interface ActionCompletions {
  readonly name: string;
  readonly about: string;
  readonly options: readonly OptionCompletion[];
  /** Completion of the command's arguments. All arguments have the same completion. */
  readonly argument: Completion;
  readonly subcommands: readonly ActionCompletions[];
}

export type Completions = readonly ActionCompletions[];

/** Returns the completions in the order of the help texts. */
export function describeCompletions(commands: Readonly<Record<string, Command>>): Completions {
  return Object.entries(commands).map(([name, command]) => ({
    ...describeAction(name, command),
    subcommands: Object.entries(command.subcommands ?? {}).map(([word, action]) =>
      describeAction(word, action),
    ),
  }));
}

function describeAction(
  name: string,
  { usage, about, options = {} }: ActionHelp,
): ActionCompletions {
  const own = Object.entries(options).map(([option, entry]) => describeOption(option, entry));
  return {
    name,
    about: toFirstSentence(about),
    options: [...own, ...commonOptions],
    argument: { kind: /\bFILE\b/.test(usage) ? 'path' : 'text', name: 'argument' },
    subcommands: [],
  };
}

function describeOption(name: string, option: CommandOption): OptionCompletion {
  const { type, value = 'VALUE', choices, isNegative = false, about } = option;
  const flag = `${isNegative ? '--no-' : '--'}${name}`;
  if (type === 'boolean') return { flag, about: toFirstSentence(about), value: null };
  return { flag, about: toFirstSentence(about), value: describeValue(value, choices) };
}

function describeValue(name: string, words: readonly string[] | undefined): Completion {
  if (words !== undefined) return { kind: 'words', name, words };
  return { kind: ['FILE', 'PATH', 'DIR'].includes(name) ? 'path' : 'text', name };
}

const commonOptions: readonly OptionCompletion[] = [
  ...Object.entries(globalOptions).map(([name, option]) => describeOption(name, option)),
  { flag: '--help', about: 'Prints the help of a command', value: null },
];

function toFirstSentence(text: string): string {
  return /^.*?(?=\.(?:\s|$)|$)/.exec(text)?.[0] ?? text;
}
