import type { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import type { Config } from '../config/config.ts';
import type { SettingSources, Settings } from '../config/sources.ts';
import { nearestChoice, nearestName } from '../lib/suggest.ts';
import type { Output } from './output/output.ts';

/** Streams of the process, whose outputs replace control characters that could affect a terminal, and its end. */
export interface CommandStreams {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Ends the process, also while connections or lookups keep it alive. */
  readonly exit: (code: ExitCode) => void;
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
  /** Setting that the option overrides, such as `PORT`. */
  readonly sets?: string;
  /** Placeholder in the help text. `FILE`, `PATH` and `DIR` mean that the value is a path. */
  readonly value?: string;
  /** Words that shells suggest as the value. The option may accept other values too. */
  readonly choices?: readonly string[];
  readonly about: string;
}

/** Options of a command by name, without leading hyphens. */
export type CommandOptions = Readonly<Record<string, CommandOption>>;

/** Runs a parsed command. No result means `ok`. @throws CommandError or UsageError for the user */
export type Run<Context = CommandContext> = (
  context: Context,
) => Promise<ExitCode | undefined> | Promise<void>;

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
  plan(args: readonly string[]): (context: Context) => Promise<ExitCode>;
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

export const jsonOption = {
  json: { type: 'boolean', about: 'Prints JSON instead of Markdown.' },
} as const satisfies CommandOptions;

export const listOptions = {
  limit: { type: 'string', value: 'N', about: 'Number of posts or accounts to print. Default 20.' },
  all: { type: 'boolean', about: 'Prints all posts or accounts, page by page.' },
} as const satisfies CommandOptions;

/** Options that every command accepts, before or after the name of the command. */
export const globalOptions = {
  config: {
    type: 'string',
    value: 'FILE',
    about: 'Reads settings from a file with NAME=value lines. Overrides PERCH_CONFIG.',
  },
} as const satisfies CommandOptions;

export const listenOptions = {
  port: {
    type: 'string',
    value: 'PORT',
    sets: 'PORT',
    about: 'Port to listen on. Overrides PORT.',
  },
  host: {
    type: 'string',
    value: 'HOST',
    sets: 'HOST',
    about: 'Address to listen on. Overrides HOST.',
  },
} as const satisfies CommandOptions;

/** Returns the values of the options that override settings, by the name of the setting. */
export function settingsOf({ options = {} }: Pick<ActionHelp, 'options'>, args: readonly string[]) {
  const set: Record<string, string | undefined> = {};
  for (const [name, { sets }] of Object.entries(options)) {
    if (sets === undefined) continue;
    const value = parseCommandArgs(args, options).values[name];
    if (typeof value === 'string') set[sets] = value;
  }
  return set;
}

/** Separates global options from the rest. @throws UsageError if one is repeated or empty */
export function takeGlobalOptions(args: readonly string[]) {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  const places = own.flatMap((arg, index) => (/^--config(?:=|$)/.test(arg) ? [index] : []));
  const [place] = places;
  if (place === undefined) return { config: undefined, rest: args };
  if (places.length > 1) throw new UsageError('--config can be used only once.');
  const [, attached] = /^--config=(.*)$/s.exec(own[place] ?? '') ?? [];
  const config = attached ?? own[place + 1] ?? '';
  if (config === '' || (attached === undefined && config.startsWith('-'))) {
    throw new UsageError('--config needs the path of a file.');
  }
  return { config, rest: args.toSpliced(place, attached === undefined ? 2 : 1) };
}

type ValuesOf<Options extends CommandOptions> = ReturnType<
  typeof parseCommandArgs<Options>
>['values'];

/** Returns `options` and `plan`, whose function prints a CommandError and returns its exit code. */
export function withOptions<
  const Options extends CommandOptions,
  Context extends CommandStreams = CommandContext,
>(
  options: Options,
  plan: (values: ValuesOf<Options>, positionals: readonly string[]) => Run<Context>,
): Required<Pick<Action<Context>, 'options' | 'plan'>> {
  return {
    options,
    plan: (args) => {
      const { values, positionals } = parseCommandArgs(args, options);
      const run = plan(values, positionals);
      return async (context) => {
        try {
          const code = await run(context);
          return typeof code === 'number' ? code : exitCodes.ok;
        } catch (error) {
          if (!(error instanceof CommandError)) throw error;
          context.stderr.write(`perch: ${error.message}\n`);
          return error.exit;
        }
      };
    },
  };
}

/** As `withOptions`, for the command or subcommand `name` that takes no arguments. */
export function withoutArguments<
  const Options extends CommandOptions,
  Context extends CommandStreams = CommandContext,
>(name: string, options: Options, plan: (values: ValuesOf<Options>) => Run<Context>) {
  return withOptions<Options, Context>(options, (values, positionals) => {
    if (positionals.length === 0) return plan(values);
    const fault = `${name} takes no arguments. Remove ${positionals.join(' ')}.`;
    throw new UsageError(fault);
  });
}

export function withSubcommands<Context = CommandContext>(
  name: string,
  subcommands: Readonly<Record<string, Action<Context>>>,
) {
  return {
    subcommands,
    plan: ([word = '', ...args]: readonly string[]) => {
      const meant = word.startsWith('-') ? suggestOption(word, commonOptions) : '';
      if (meant !== '') throw new UsageError(`${word} is not an option of perch ${name}.${meant}`);
      return chooseByName(subcommands, word, `The subcommands of perch ${name} are`).plan(args);
    },
  };
}

/** Creates a `list` subcommand: a table, or with `--json` one line per item. `noun`: an item. */
export function createListing(noun: string, about: string, run: (isJson: boolean) => Run): Action {
  const json = { type: 'boolean', about: `Prints a line of JSON for each ${noun}.` } as const;
  return {
    usage: 'list [--json]',
    about,
    ...withoutArguments('list', { json }, (values) => run(values.json === true)),
  };
}

const commonOptions = [...Object.keys(globalOptions), 'help'];

function parseCommandArgs<const Options extends CommandOptions>(
  args: readonly string[],
  options: Options,
) {
  const joined = joinNegativeNumbers(args, options);
  try {
    return parseArgs({ args: joined, allowPositionals: true, allowNegative: true, options });
  } catch (error) {
    const known = [...Object.keys(options), ...commonOptions];
    throw new UsageError(describeParseError(error, args, known), { cause: error });
  }
}

/** Joins `--limit -1` to `--limit=-1`, because `parseArgs` takes `-1` for an option. */
function joinNegativeNumbers(args: readonly string[], options: CommandOptions): string[] {
  const end = args.indexOf('--');
  const takesValue = (arg: string) =>
    Object.entries(options).some(([name, { type }]) => type === 'string' && arg === `--${name}`);
  const joined: string[] = [];
  for (const [at, arg] of args.entries()) {
    const before = joined.at(-1);
    const isOwn = end === -1 || at < end;
    if (isOwn && before !== undefined && /^-\d/.test(arg) && takesValue(before)) {
      joined[joined.length - 1] = `${before}=${arg}`;
    } else joined.push(arg);
  }
  return joined;
}

function describeParseError(
  error: unknown,
  args: readonly string[],
  known: readonly string[],
): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, unknown] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
  const [, lacking] =
    /^Option '(?:-\w, )?(--[^' ]+)(?: <value>)?' argument (?:missing|is ambiguous)/.exec(message) ??
    [];
  if (lacking !== undefined) return `${lacking} needs a value.`;
  if (unknown === undefined) return message;
  // For `-help`, Node names only `-h`.
  const written = args.find((arg) => arg.startsWith(unknown)) ?? unknown;
  const [option = written] = written.split('=', 1);
  const fault = `${option} is not an option of this command.`;
  const meant = suggestOption(option, known);
  if (meant !== '') return `${fault}${meant}`;
  return `${fault} Its options are ${known.map((name) => `--${name}`).join(', ')}.`;
}

function suggestOption(option: string, known: readonly string[]): string {
  const word = option.replace(/^--?/, '').toLowerCase();
  if (word === '') return '';
  const names = [...known, 'version'];
  const near = nearestName(word, names) ?? names.find((name) => name.startsWith(word));
  // Commands have no option `--version`.
  const prefix = near === 'version' && !known.includes(near) ? 'perch ' : '';
  return near === undefined ? '' : ` Did you mean ${prefix}--${near}?`;
}

/** Finds an entry. @throws UsageError with all names, but without `word`: it may be secret */
export function chooseByName<Value>(
  table: Readonly<Record<string, Value>>,
  word: string,
  sentence: string,
): Value {
  const value = Object.hasOwn(table, word) ? table[word] : undefined;
  if (value !== undefined) return value;
  throw new UsageError(`${sentence} ${Object.keys(table).join(', ')}.${suggestName(word, table)}`);
}

/** Returns ` Did you mean NAME?`; an empty string if no name is similar. */
export function suggestName(word: string, table: Readonly<Record<string, unknown>>): string {
  const near = nearestChoice(word, Object.keys(table));
  return near === undefined ? '' : ` Did you mean ${near}?`;
}

/** Accepts `words` and dissimilar values. @throws UsageError that suggests the similar word */
export function refuseMisspelling(option: string, value: string, words: readonly string[]): void {
  if (words.includes(value.toLowerCase()) || nearestChoice(value, words) === undefined) return;
  chooseWord(option, value, words);
}

/** Returns the word that the value of an option is, in any case. @throws UsageError for others */
export function chooseWord<Word extends string>(
  option: string,
  value: string,
  words: readonly Word[],
): Word {
  const word = words.find((one) => one === value.toLowerCase());
  if (word !== undefined) return word;
  const near = nearestChoice(value, words);
  const advice = near === undefined ? '' : ` Did you mean ${near}?`;
  const fault = `--${option} must be one of ${words.join(', ')}, not ${JSON.stringify(value)}.`;
  throw new UsageError(`${fault}${advice}`);
}

const maxItems = 1_000_000;

/** Parses `--limit`; `Infinity` for `--all`. @throws UsageError for an invalid number */
export function toItemCount(limit: string | undefined, all = false): number {
  if (limit === undefined) return all ? Number.POSITIVE_INFINITY : 20;
  if (all) throw new UsageError('--limit and --all cannot be used together.');
  const count = /^\d{1,7}$/.test(limit) ? Number(limit) : 0;
  if (count >= 1 && count <= maxItems) return count;
  throw new UsageError(`--limit must be a number from 1 to ${maxItems}, not ${limit}.`);
}
