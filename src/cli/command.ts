import type { Readable } from 'node:stream';
import type { Config } from '../config/config.ts';
import type { SettingSources, Settings } from '../config/sources.ts';
import type { Output } from './output/output.ts';

/** Standard streams of a command. The output streams replace control characters that could affect a terminal. */
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
  /** Default value of `PERCH_DATA_DIR`, the path of the data folder. */
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
  /** The server cannot start now. Another attempt can succeed without other settings (EX_TEMPFAIL of sysexits.h). */
  failedStart: 75,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Returns the higher of two exit codes. A higher exit code means a more severe result. */
export function worstOf(one: ExitCode, other: ExitCode): ExitCode {
  return one > other ? one : other;
}

/** Command-line option: the fields that `parseArgs` of `node:util` expects, and the help text. */
export interface CommandOption {
  readonly type: 'boolean' | 'string';
  readonly multiple?: true;
  readonly default?: string;
  /** Whether the option is on by default. Users turn off such an option with `--no-NAME`. */
  readonly isNegative?: true;
  /** Placeholder for the option's value in the help text. `FILE`, `PATH` and `DIR` mean that the value is a path. */
  readonly value?: string;
  /** Words that shells suggest as the value of the option. The option may accept other values too. */
  readonly choices?: readonly string[];
  readonly about: string;
}

/** Options of a command by name, without leading hyphens. */
export type CommandOptions = Readonly<Record<string, CommandOption>>;

/**
 * Function that runs a command after the arguments are parsed.
 * @throws CommandError or UsageError with a message for the user
 */
export type Run<Context = CommandContext> = (context: Context) => Promise<ExitCode>;

/** Help texts of a command or subcommand. */
export interface ActionHelp {
  /** Name and arguments of the command, for example `read URL`. */
  readonly usage: string;
  readonly about: string;
  /** Further help text of the command, printed with its line breaks. */
  readonly details?: string;
  readonly options?: CommandOptions;
}

/** Help texts and implementation of a command or subcommand. */
export interface Action<Context = CommandContext> extends ActionHelp {
  /** Parses the arguments and returns the function that runs the command. @throws UsageError for invalid arguments */
  plan(args: readonly string[]): Run<Context>;
}

/** Usage and description of a command in the list that `perch --help` prints. */
export type CommandSummary = Pick<Action, 'usage' | 'about'>;

interface BodyOf<Context> extends Omit<Action<Context>, keyof CommandSummary> {
  /** Text that explains the exit codes of the command. */
  readonly exits: string;
  /**
   * Lock of the data folder while the command runs. `shared` (default): no restore can start, but
   * other commands can use the folder. `created`: like `shared`, but a missing folder is created
   * first. `own`: the command locks the folder itself.
   */
  readonly folder?: 'shared' | 'created' | 'own';
  /** Exit code if the data folder cannot be locked. Default: `upstream`. */
  readonly lockedExit?: ExitCode;
  /** Subcommands by name. The first argument selects the subcommand. */
  readonly subcommands?: Readonly<Record<string, Action<Context>>>;
}

/**
 * Help texts and implementation of a command that needs a valid configuration. The usage and the
 * description are in `CommandSummary`.
 */
export interface CommandBody extends BodyOf<CommandContext> {
  readonly isBare?: false;
  /**
   * Returns the settings that the command-line options in `args` override, with the new values. The
   * keys are names of environment variables, such as `PORT`.
   */
  settings?(args: readonly string[]): Readonly<Record<string, string | undefined>>;
}

/** Help texts and implementation of a command that runs without a valid configuration. */
export interface BareBody extends BodyOf<BareContext> {
  readonly isBare: true;
}

export type Command = (CommandBody | BareBody) & CommandSummary;

/** Error for invalid arguments. The message is printed to standard error, followed by the usage of the command. */
export class UsageError extends Error {}

/** Error that ends a command. The message is printed to standard error, and the process exits with the code `exit`. */
export class CommandError extends Error {
  readonly exit: ExitCode;

  constructor(exit: keyof typeof exitCodes, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exit = exitCodes[exit];
  }
}
