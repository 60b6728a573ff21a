import { nearestName } from '../../core/near-name.ts';
import { describeParametersOf, type ReadAbout } from '../../reads/read.ts';
import { type CommandOption, UsageError } from '../command.ts';

type Described = ReturnType<typeof describeParametersOf>[number];

/** Parameters that no option is for: what is read is an argument, and pages are walked. */
const withoutOption: ReadonlySet<string> = new Set([
  ...['url', 'handle', 'id', 'q'],
  ...['limit', 'cursor', 'page', 'nocache'],
]);

export type OptionValues = Readonly<
  Record<string, string | boolean | readonly (string | boolean)[] | undefined>
>;

export function textOf(value: OptionValues[string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

interface NamedRead {
  readonly read: ReadAbout;
  /** The name of what it reads, for sentences. */
  readonly name: string;
}

/** Creates the options that stand for the parameters of reads: `--with-replies` for `with_replies`. */
export function createReadOptions<Named extends NamedRead>(named: readonly Named[]) {
  // Describing a read takes several milliseconds.
  const parametersOf = new Map(named.map(({ read }) => [read, listParameters(read)]));
  /** Returns the reads that take an option. */
  const takersOf = (option: string): readonly Named[] =>
    named.filter(({ read }) =>
      parametersOf.get(read)?.some(({ name }) => toOptionName(name) === option),
    );
  const options: Record<string, CommandOption> = {};
  for (const parameter of [...parametersOf.values()].flat()) {
    const name = toOptionName(parameter.name);
    // The first read that has a parameter describes it.
    options[name] ??= toOption(parameter, takersOf(name));
  }
  /** Returns the parameters of a read that its options set. @throws UsageError for a misspelling */
  const toGiven = (read: ReadAbout, values: OptionValues): Record<string, string> => {
    const given: Record<string, string> = {};
    for (const parameter of parametersOf.get(read) ?? []) {
      const option = toOptionName(parameter.name);
      const value = values[option];
      if (typeof value !== 'string' && typeof value !== 'boolean') continue;
      refuseMisspelling(option, String(value), wordsOf(parameter));
      given[parameter.name] = String(value);
    }
    return given;
  };
  return { options, takersOf, toGiven };
}

function listParameters(read: ReadAbout): readonly Described[] {
  return describeParametersOf(read).filter(({ name }) => !withoutOption.has(name));
}

function toOptionName(parameter: string): string {
  return parameter.replaceAll('_', '-');
}

function toOption(parameter: Described, takers: readonly NamedRead[]): CommandOption {
  const { name, schema, description } = parameter;
  const whom = ` Of ${takers.map((one) => one.name).join(', ')}.`;
  const about = name === 'format' ? 'What is printed.' : description.replaceAll('`', '');
  if (schema.type === 'boolean') {
    const isNegative = schema.default === true ? { isNegative: true as const } : {};
    return { type: 'boolean', ...isNegative, about: `${about.replace(/^false: t/, 'T')}${whom}` };
  }
  const words = Array.isArray(schema.enum) ? ` Takes ${schema.enum.join(', ')}.` : '';
  const byDefault = name === 'format' ? 'markdown' : schema.default;
  return {
    type: 'string',
    value: wordsOf(parameter).length === 0 ? 'MOMENT' : toOptionName(name).toUpperCase(),
    about: `${about}${words}${byDefault === undefined ? '' : ` Default ${byDefault}.`}${whom}`,
  };
}

/** Returns the words that a parameter takes, if it takes any. */
function wordsOf({ schema }: Described): readonly string[] {
  const forms = [schema, ...(Array.isArray(schema.anyOf) ? schema.anyOf : [])];
  return forms.flatMap(({ enum: words }) => (Array.isArray(words) ? words.map(String) : []));
}

/** Refuses a word that is nearly one of the values of an option; the read refuses other words. */
export function refuseMisspelling(option: string, value: string, words: readonly string[]): void {
  if (words.includes(value.toLowerCase())) return;
  const near = nearestName(value, words);
  if (near === undefined) return;
  throw new UsageError(
    `--${option} takes ${words.join(', ')}, not ${JSON.stringify(value)}; did you mean ${near}?`,
  );
}
