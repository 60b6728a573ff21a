import type { Readable } from 'node:stream';
import type { Config } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import {
  isPostId,
  nobodyOnX,
  type Platform,
  parseHandle,
  platform,
} from '../../model/reference.ts';
import type { AddressedRead } from '../../reads/addresses/address.ts';
import { parseTypedInput } from '../../reads/addresses/address.ts';
import { describeParametersOf, type ReadAbout } from '../../reads/read.ts';
import { type CommandOption, chooseWord, refuseMisspelling, UsageError } from '../command.ts';

/** Argument of `perch read`. `target` is an error if the argument is invalid. */
export type ReadInput = Readonly<{ text: string; target: AddressedRead | Problem | UsageError }>;

const maxCharacters = 1_048_576;
const maxInputs = 10_000;

/**
 * Replaces `-` by the lines of standard input, without blank lines and `#` comments.
 * @throws UsageError if there are no arguments or too many inputs
 */
export async function listInputs(args: readonly string[], stdin: Readable) {
  if (args.length === 0) {
    throw new UsageError('Give a URL, an @handle, or - to read a list from standard input.');
  }
  const stdins = args.filter((arg) => arg === '-').length;
  if (stdins > 1) throw new UsageError('Give - only once: standard input can be read only once.');
  const listed = stdins === 0 ? [] : await readLines(stdin);
  const inputs = args.flatMap((arg) => (arg === '-' ? listed : [arg]));
  if (inputs.length > maxInputs) {
    throw new UsageError(`read takes at most ${maxInputs} inputs, not ${inputs.length}.`);
  }
  return inputs;
}

async function readLines(stdin: Readable): Promise<readonly string[]> {
  let text = '';
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += chunk;
    if (text.length > maxCharacters) {
      throw new UsageError(`The list on standard input exceeds ${maxCharacters} characters.`);
    }
  }
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

/** Parses an argument of `perch read`. `named`: value of `--platform`. Does not throw. */
export function parseInput(text: string, config: Config, named: string | undefined): ReadInput {
  try {
    return { text, target: toTarget(text.trim(), config, named) };
  } catch (error) {
    if (error instanceof Problem || error instanceof UsageError) return { text, target: error };
    throw error;
  }
}

function toTarget(text: string, config: Config, named: string | undefined): AddressedRead {
  if (named !== undefined) {
    return toPlatformTarget(text, chooseWord('platform', named, platform.options));
  }
  const place = {
    baseUrl: config.PERCH_BASE_URL,
    xMirrors: config.PERCH_X_MIRRORS,
    mastodonSearchHost: config.PERCH_MASTODON_SEARCH_HOST,
  };
  const found = parseTypedInput(text, place, 'The address');
  if (found !== null) return found;
  // For an invalid handle, the read operation throws an error that describes valid handles.
  if (/^@[^\s/]+$/.test(text)) return { read: 'getProfile', given: { handle: text } };
  throw new UsageError(describeInvalidInput(text));
}

function describeInvalidInput(text: string): string {
  const shown = JSON.stringify(text);
  if (/^@\S+\//.test(text)) {
    return `${shown} is not a list of an account. The lists are /followers, /following, /with_replies and /media.`;
  }
  const fault = `${shown} is not a URL, a handle (@name or name.example) or a list of an account.`;
  if (isPostId('x', text)) return `${fault} For the id of a post on X, add --platform x.`;
  const suggestion = parseHandle(text) === null ? '' : ` Did you mean @${text}?`;
  return `${fault}${suggestion} To search, use perch search.`;
}

function toPlatformTarget(text: string, of: Platform): AddressedRead {
  if (of === 'x' && isPostId('x', text)) {
    return { read: 'getPost', given: { handle: nobodyOnX, id: text } };
  }
  const account = parseHandle(text);
  if (account?.platform === of) return { read: 'getProfile', given: { handle: account.handle } };
  const shown = JSON.stringify(text);
  throw new UsageError(
    of === 'x'
      ? `${shown} is neither a post id nor a handle on X. With --platform, give one of these.`
      : `${shown} is not a handle on ${of}. To read a post there, give @HANDLE/status/ID without --platform.`,
  );
}

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
  const parametersOf = new Map(
    named.map(({ read }) => [
      read,
      describeParametersOf(read).filter(({ name }) => !withoutOption.has(name)),
    ]),
  );
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
