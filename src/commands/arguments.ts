import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from './command.ts';

/** The options that commands take, in the notation of `node:util`. */
export type CommandOptions = NonNullable<ParseArgsConfig['options']>;

/** Options of every command that prints what it reads. */
export const printOptions = {
  full: { type: 'boolean' },
  json: { type: 'boolean' },
} as const satisfies CommandOptions;

/** Options of every command that prints a list. */
export const listOptions = {
  limit: { type: 'string' },
  all: { type: 'boolean' },
} as const satisfies CommandOptions;

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
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(tellFault(error, Object.keys(options)), { cause: error });
  }
}

/** Node's own words for an unknown option are about something else: how to pass it on. */
function tellFault(error: unknown, known: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, unknown] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
  if (unknown === undefined) return message;
  const names = known.map((name) => `--${name}`).join(', ');
  return `there is no option ${unknown} here; ${names === '' ? 'none is taken' : `there are ${names}`}`;
}

/** The most items of a list that can be asked for by number. */
const maxItems = 1_000_000;

/**
 * Gives how many items of a list are wanted.
 *
 * @throws UsageError for what is no number of items, or contradicts itself.
 */
export function toItemCount(values: { readonly limit?: string; readonly all?: boolean }): number {
  const { limit, all = false } = values;
  if (limit === undefined) return all ? Number.POSITIVE_INFINITY : 20;
  if (all) throw new UsageError('--limit and --all contradict each other');
  const count = /^\d{1,7}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > maxItems) {
    throw new UsageError(`--limit takes a number from 1 to ${maxItems}, not ${limit}`);
  }
  return count;
}
