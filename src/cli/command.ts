import type { Readable } from 'node:stream';
import type { Config } from '../config/config.ts';
import type { SettingSources, Settings } from '../config/sources.ts';
import type { Output } from './output/output.ts';

/** Standard streams. The outputs replace control characters that could affect a terminal. */
export interface CommandStreams {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}

export interface CommandContext extends CommandStreams {
  readonly config: Config;
  /** Configured settings, with their sources: an option, an environment variable or a file. */
  readonly settings: Settings;
  /** Warnings about the configuration, such as unknown variables. */
  readonly warnings: readonly string[];
}

/** Context of a command that runs without a valid configuration. */
export interface BareContext extends CommandStreams {
  readonly sources: SettingSources;
  readonly dataFolder: string;
}

/** Process exit codes of all commands. `defect` means a bug in Perch. */
export const exitCodes = {
  ok: 0,
  notFound: 1,
  notReady: 1,
  faulty: 1,
  usage: 2,
  upstream: 3,
  defect: 70,
  /** The server cannot start now, but a later attempt can succeed (EX_TEMPFAIL of sysexits.h). */
  failedStart: 75,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Returns the higher of two exit codes. A higher exit code means a more severe result. */
export function worstOf(one: ExitCode, other: ExitCode): ExitCode {
  return one > other ? one : other;
}

export interface CommandOption {
  readonly type: 'boolean' | 'string';
  readonly multiple?: true;
  readonly default?: string;
  /** Whether the option is on by default. Users turn off such an option with `--no-NAME`. */
  readonly isNegative?: true;
  /** Placeholder in the help text. `FILE`, `PATH` and `DIR` mean that the value is a path. */
  readonly value?: string;
  /** Words that shells suggest as the value. The option may accept other values too. */
  readonly choices?: readonly string[];
  readonly about: string;
}

/** Options of a command by name, without leading hyphens. */
export type CommandOptions = Readonly<Record<string, CommandOption>>;

/** Function that runs a parsed command. @throws CommandError or UsageError for the user */
export type Run<Context = CommandContext> = (context: Context) => Promise<ExitCode>;

export interface ActionHelp {
  /** Name and arguments of the command, for example `read URL`. */
  readonly usage: string;
  readonly about: string;
  /** Further help text of the command, printed with its line breaks. */
  readonly details?: string;
  readonly options?: CommandOptions;
}

export interface Action<Context = CommandContext> extends ActionHelp {
  /** Parses the arguments. @throws UsageError for invalid arguments */
  plan(args: readonly string[]): Run<Context>;
}

export type CommandSummary = Pick<Action, 'usage' | 'about'>;

interface BodyOf<Context> extends Omit<Action<Context>, keyof CommandSummary> {
  readonly exits: string;
  /**
   * Lock of the data folder while the command runs. `shared` (default): no restore can start.
   * `created`: like `shared`, but creates a missing folder. `own`: the command locks the folder
   * itself.
   */
  readonly folder?: 'shared' | 'created' | 'own';
  /** Exit code if the data folder cannot be locked. Default: `upstream`. */
  readonly lockedExit?: ExitCode;
  readonly subcommands?: Readonly<Record<string, Action<Context>>>;
}

export interface CommandBody extends BodyOf<CommandContext> {
  readonly isBare?: false;
  /** Returns settings that options override, by environment variable such as `PORT`. */
  settings?(args: readonly string[]): Readonly<Record<string, string | undefined>>;
}

export interface BareBody extends BodyOf<BareContext> {
  readonly isBare: true;
}

export type Command = (CommandBody | BareBody) & CommandSummary;

/** Error for invalid arguments, printed to standard error with the usage of the command. */
export class UsageError extends Error {}

/** Error that ends a command: printed to standard error; the process exits with code `exit`. */
export class CommandError extends Error {
  readonly exit: ExitCode;

  constructor(exit: keyof typeof exitCodes, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exit = exitCodes[exit];
  }
}
