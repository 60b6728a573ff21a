import type { Readable } from 'node:stream';
import type { Config } from '../config/config.ts';
import type { Output } from './output/output.ts';

/** The parts of the process that a command may use. */
export interface CommandContext {
  readonly config: Config;
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** The exit codes of every command. */
export const exitCodes = { ok: 0, notFound: 1, usage: 2, upstream: 3, defect: 70 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Returns the exit code of two pieces of work: the greater one. */
export function worstOf(one: ExitCode, other: ExitCode): ExitCode {
  return one > other ? one : other;
}

/** An option of a command, in the notation of `node:util`, with its help. */
export interface CommandOption {
  readonly type: 'boolean' | 'string';
  readonly multiple?: true;
  readonly default?: string;
  /** True if it is given as `--no-NAME`, because it holds by default. */
  readonly isNegative?: true;
  /** The name of its value in the help. */
  readonly value?: string;
  readonly about: string;
}

/** The options of a command by their names, without hyphens before them. */
export type CommandOptions = Readonly<Record<string, CommandOption>>;

/** The work of a command once its arguments are parsed. @throws CommandError, UsageError */
export type Run = (context: CommandContext) => Promise<ExitCode>;

/** A command or subcommand: its help, and the function that runs it. */
export interface Action {
  /** The name and the arguments: `read URL`. */
  readonly usage: string;
  readonly about: string;
  /** Further sentences, each line as it is printed. */
  readonly details?: string;
  readonly options?: CommandOptions;
  /** Parses the arguments, before anything is opened. @throws UsageError */
  plan(args: readonly string[]): Run;
}

/** The entry of a command in the help of all commands. */
export type CommandSummary = Pick<Action, 'usage' | 'about'>;

/** One command of the command line, without its summary. */
export interface CommandBody extends Omit<Action, keyof CommandSummary> {
  /** The meaning of its exit codes, in one sentence. */
  readonly exits: string;
  /** Subcommands by name; the first argument chooses one. */
  readonly subcommands?: Readonly<Record<string, Action>>;
  /** Returns the settings that its arguments set in place of environment variables. */
  settings?(args: readonly string[]): Readonly<Record<string, string>>;
}

export type Command = CommandBody & CommandSummary;

/** Arguments that a command does not take. The message goes to standard error, followed by the usage. */
export class UsageError extends Error {}

/** Failure of a command. The message goes to standard error, and the command ends with the exit code. */
export class CommandError extends Error {
  readonly exit: ExitCode;

  constructor(exit: keyof typeof exitCodes, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exit = exitCodes[exit];
  }
}
