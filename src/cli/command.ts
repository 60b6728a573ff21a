import type { Readable } from 'node:stream';
import type { Config } from '../config/config.ts';
import type { Output } from './output/output.ts';

export interface CommandContext {
  readonly config: Config;
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Exit codes of all commands. */
export const exitCodes = { ok: 0, notFound: 1, usage: 2, upstream: 3, defect: 70 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Returns the more severe of two exit codes, which is the greater one. */
export function worstOf(one: ExitCode, other: ExitCode): ExitCode {
  return one > other ? one : other;
}

/** Option of a command, as `parseArgs` of `node:util` defines it, with its help text. */
export interface CommandOption {
  readonly type: 'boolean' | 'string';
  readonly multiple?: true;
  readonly default?: string;
  /** Set if the option is on by default, so that users turn it off with `--no-NAME`. */
  readonly isNegative?: true;
  /** Placeholder for the option's value in the help. */
  readonly value?: string;
  readonly about: string;
}

/** Options of a command by name, without leading hyphens. */
export type CommandOptions = Readonly<Record<string, CommandOption>>;

/** Function that runs a command after its arguments are parsed. @throws CommandError, UsageError */
export type Run = (context: CommandContext) => Promise<ExitCode>;

/** Command or subcommand: its help and its implementation. */
export interface Action {
  /** Name and arguments, for example `read URL`. */
  readonly usage: string;
  readonly about: string;
  /** Further help text, printed as it is, including its line breaks. */
  readonly details?: string;
  readonly options?: CommandOptions;
  /** Parses the arguments, before any file is opened. @throws UsageError */
  plan(args: readonly string[]): Run;
}

/** Entry of a command in the general help. */
export type CommandSummary = Pick<Action, 'usage' | 'about'>;

/** Help and implementation of a command, without its entry in the general help. */
export interface CommandBody extends Omit<Action, keyof CommandSummary> {
  /** Sentence that explains the command's exit codes. */
  readonly exits: string;
  /** Subcommands by name. The first argument selects one. */
  readonly subcommands?: Readonly<Record<string, Action>>;
  /** Returns the settings that the arguments override, by the names of their environment variables. */
  settings?(args: readonly string[]): Readonly<Record<string, string>>;
}

export type Command = CommandBody & CommandSummary;

/** Error for invalid arguments. Its message is printed to standard error, followed by the usage. */
export class UsageError extends Error {}

/** Error that ends a command. The message is printed to standard error, and the process exits with the code `exit`. */
export class CommandError extends Error {
  readonly exit: ExitCode;

  constructor(exit: keyof typeof exitCodes, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exit = exitCodes[exit];
  }
}
