import { describeParametersOf, type ReadAbout } from '../../reads/read.ts';
import { refuseMisspelling } from '../arguments.ts';
import type { CommandOption } from '../command.ts';

type Described = ReturnType<typeof describeParametersOf>[number];

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

type NamedRead = Readonly<{ read: ReadAbout; name: string }>;

/** Creates command-line options from parameters: `--with-replies` for `with_replies`. */
export function createReadOptions<Named extends NamedRead>(named: readonly Named[]) {
  // Computed once, because describing a read operation takes several milliseconds.
  const parametersOf = new Map(named.map(({ read }) => [read, listParameters(read)]));
  const readsWith = (option: string): readonly Named[] =>
    named.filter(({ read }) =>
      parametersOf.get(read)?.some(({ name }) => toOptionName(name) === option),
    );
  const options: Record<string, CommandOption> = {};
  for (const parameter of [...parametersOf.values()].flat()) {
    const name = toOptionName(parameter.name);
    // If several read operations have the parameter, the help shows the first description.
    options[name] ??= toOption(parameter, named.length === 1 ? [] : readsWith(name));
  }
  /** Converts option values. @throws UsageError for a misspelled value */
  const toParameters = (read: ReadAbout, values: OptionValues): Record<string, string> => {
    const parameters: Record<string, string> = {};
    for (const parameter of parametersOf.get(read) ?? []) {
      const option = toOptionName(parameter.name);
      const value = values[option];
      if (typeof value !== 'string' && typeof value !== 'boolean') continue;
      refuseMisspelling(option, String(value), wordsOf(parameter));
      parameters[parameter.name] = String(value);
    }
    return parameters;
  };
  return { options, readsWith, toParameters };
}

function listParameters(read: ReadAbout): readonly Described[] {
  return describeParametersOf(read).filter(({ name }) => !withoutOption.has(name));
}

function toOptionName(parameter: string): string {
  return parameter.replaceAll('_', '-');
}

const ownTexts: Readonly<Record<string, string>> = {
  format: 'Output format.',
  require_live: 'Fails with exit code 3 if there are no live results.',
};

function toOption(parameter: Described, supported: readonly NamedRead[]): CommandOption {
  const { name, schema, description } = parameter;
  const names = supported.map((one) => one.name).join(', ');
  const whom = names === '' ? '' : ` For ${names}.`;
  const about = ownTexts[name] ?? description.replaceAll('`', '').replace('full=true', '--full');
  if (schema.type === 'boolean') {
    const isNegative = schema.default === true ? { isNegative: true as const } : {};
    const effect = about.replace(/^(?:true|false): (.)/, (_, first: string) => first.toUpperCase());
    return { type: 'boolean', ...isNegative, about: `${effect}${whom}` };
  }
  const choices = wordsOf(parameter);
  const words = Array.isArray(schema.enum) ? ` One of ${schema.enum.join(', ')}.` : '';
  const byDefault = name === 'format' ? 'markdown' : schema.default;
  return {
    type: 'string',
    value: valueNameOf(parameter),
    ...(choices.length === 0 ? {} : { choices }),
    about: `${about}${words}${byDefault === undefined ? '' : ` Default ${byDefault}.`}${whom}`,
  };
}

function valueNameOf(parameter: Described): string {
  if (wordsOf(parameter).length > 0) return toOptionName(parameter.name).toUpperCase();
  return parameter.schema.type === 'integer' ? 'N' : 'TIME';
}

function wordsOf({ schema }: Described): readonly string[] {
  const forms = [schema, ...(Array.isArray(schema.anyOf) ? schema.anyOf : [])];
  return forms.flatMap(({ enum: words }) => (Array.isArray(words) ? words.map(String) : []));
}
