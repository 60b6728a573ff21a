import { parseArgs } from 'node:util';
import { nearestName } from '../core/near-name.ts';
import { type Action, CommandError, type CommandOptions, type Run, UsageError } from './command.ts';

/** The option of commands that print JSON instead of text. */
export const jsonOption = {
  json: { type: 'boolean', about: 'Prints JSON instead.' },
} as const satisfies CommandOptions;

/** Options of every command that prints a list. */
export const listOptions = {
  limit: { type: 'string', value: 'N', about: 'How many posts or accounts. Default 20.' },
  all: { type: 'boolean', about: 'All of them, page by page.' },
} as const satisfies CommandOptions;

type ValuesOf<Options extends CommandOptions> = ReturnType<
  typeof parseCommandArgs<Options>
>['values'];

/**
 * Returns the members of an action that takes options, and other arguments that `plan` checks. A
 * CommandError of the work goes to standard error.
 */
export function taking<const Options extends CommandOptions>(
  options: Options,
  plan: (values: ValuesOf<Options>, positionals: readonly string[]) => Run,
): Required<Pick<Action, 'options' | 'plan'>> {
  return {
    options,
    plan: (args) => {
      const { values, positionals } = parseCommandArgs(args, options);
      const run = plan(values, positionals);
      return async (context) => {
        try {
          return await run(context);
        } catch (error) {
          if (!(error instanceof CommandError)) throw error;
          context.stderr.write(`perch: ${error.message}\n`);
          return error.exit;
        }
      };
    },
  };
}

/** Returns the members of a command whose first argument chooses a subcommand. */
export function choosing(name: string, subcommands: Readonly<Record<string, Action>>) {
  return {
    subcommands,
    plan: ([word = '', ...args]: readonly string[]): Run =>
      chooseByName(subcommands, word, `${name} does one of these`).plan(args),
  };
}

/** Creates the subcommand that prints a list of `what`, as a table or as lines of JSON. */
export function listing(what: string, about: string, run: (isJson: boolean) => Run): Action {
  const json = { type: 'boolean', about: `Prints a line of JSON for each ${what}.` } as const;
  return {
    usage: 'list [--json]',
    about,
    ...taking({ json }, (values, positionals) => {
      if (positionals.length > 0) throw new UsageError('list takes no arguments');
      return run(values.json === true);
    }),
  };
}

/**
 * Parses the arguments of a command.
 *
 * @throws UsageError for an option that it does not take, or one without its value.
 */
export function parseCommandArgs<const Options extends CommandOptions>(
  args: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, allowNegative: true, options });
  } catch (error) {
    throw new UsageError(tellFault(error, Object.keys(options)), { cause: error });
  }
}

/** Node's own words for an unknown option are about something else: how to pass it on. */
function tellFault(error: unknown, known: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, unknown] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
  if (unknown === undefined) return message;
  const near = nearestName(unknown.replace(/^--?/, ''), known);
  if (near !== undefined) return `there is no option ${unknown} here; did you mean --${near}?`;
  const names = known.map((name) => `--${name}`).join(', ');
  return `there is no option ${unknown} here; ${names === '' ? 'none is taken' : `there are ${names}`}`;
}

/**
 * Returns the member of a table that a word names; `sentence` comes before the names in the refusal.
 *
 * @throws UsageError that names the members, and the one that was most likely meant; never the word
 *   itself, because it may be a key
 */
export function chooseByName<Value>(
  table: Readonly<Record<string, Value>>,
  word: string,
  sentence: string,
): Value {
  const value = Object.hasOwn(table, word) ? table[word] : undefined;
  if (value !== undefined) return value;
  throw new UsageError(`${sentence}: ${Object.keys(table).join(', ')}${offerNear(word, table)}`);
}

/** Returns a question for the member of a table that a word most likely means; nothing if it is like none. */
export function offerNear(word: string, table: Readonly<Record<string, unknown>>): string {
  const near = nearestName(word, Object.keys(table));
  return near === undefined ? '' : `; did you mean ${near}?`;
}

/** Maximum number of items of a list that `--limit` takes. */
const maxItems = 1_000_000;

/**
 * Returns how many items of a list are wanted; `Infinity` for all.
 *
 * @throws UsageError for what is no number of items, or contradicts itself.
 */
export function toItemCount(limit: string | undefined, all = false): number {
  if (limit === undefined) return all ? Number.POSITIVE_INFINITY : 20;
  if (all) throw new UsageError('--limit and --all contradict each other');
  const count = /^\d{1,7}$/.test(limit) ? Number(limit) : 0;
  if (count >= 1 && count <= maxItems) return count;
  throw new UsageError(`--limit takes a number from 1 to ${maxItems}, not ${limit}`);
}
