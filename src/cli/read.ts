import { Problem, toProblemDocument } from '../lib/problem.ts';
import { platform } from '../model/reference.ts';
import { feedFormats } from '../model/results.ts';
import { reads } from '../reads/index.ts';
import type { Read } from '../reads/read.ts';
import type { Fetching } from '../server/wiring/fetching.ts';
import {
  type CommandBody,
  type CommandContext,
  type CommandOptions,
  type ExitCode,
  exitCodes,
  jsonOption,
  listOptions,
  toItemCount,
  UsageError,
  withOptions,
  worstOf,
} from './command.ts';
import { type Output, toJsonLines, withOutputFile } from './output/output.ts';
import {
  createReadOptions,
  listInputs,
  type OptionValues,
  parseInput,
  type ReadInput,
  textOf,
} from './reading/arguments.ts';
import {
  type NoteFolder,
  noteOptions,
  savePost,
  toNoteFolderPath,
  withNoteFolder,
} from './reading/notes.ts';
import { toCommandError, withFetching } from './reading/open-reading.ts';
import { printList, printPost } from './reading/print.ts';

const kinds = [
  { read: reads.getPost, name: 'a post' },
  { read: reads.getProfile, name: 'a profile' },
  { read: reads.listFollowers, name: 'followers' },
  { read: reads.listFollowing, name: 'accounts followed' },
  { read: reads.searchPosts, name: 'a search' },
];

const readOptions = createReadOptions(kinds);
const { platform: _searchPlatform, ...parameterOptions } = readOptions.options;

const platforms = platform.options;

const options: CommandOptions = {
  ...parameterOptions,
  ...listOptions,
  ...jsonOption,
  output: { type: 'string', value: 'FILE', about: 'Writes to FILE instead of standard output.' },
  ...noteOptions,
  platform: {
    type: 'string',
    value: 'NAME',
    choices: platforms,
    about: `Platform of the ids and handles: ${platforms.join(', ')}.`,
  },
};

export const readCommand: CommandBody = {
  details: `
An input is one of:
  - a URL of X, an X mirror, Bluesky, a Mastodon server or Perch; https:// can be omitted
  - an account: @ada, ada.example or user@host, optionally followed by /followers, /following,
    /with_replies or /media
  - with --platform: a handle, or the id of a post on X
  - "-", to read inputs from standard input, one per line; lines that start with # are ignored

With --output-dir, a post is written with its thread as one note, and each post of a list as a note of its
own. With --json, a post is printed as one line, and a list as one line per item. For a profile, the
first line is the account, and its posts follow. With several inputs, a line with the input precedes
its results.`,
  exits:
    'Exit code: 0 success, 1 not found, 2 bad usage, 3 source not available; with several inputs, the highest.',
  ...withOptions(options, (values, positionals) => async (context) => {
    const { config, stdin } = context;
    const named = textOf(values.platform);
    const listed = await listInputs(positionals, stdin);
    const inputs = listed.map((text) => parseInput(text, config, named));
    const [first, ...more] = inputs;
    // If the only input is invalid, the usage of the command is printed too.
    if (first?.target instanceof UsageError && more.length === 0) throw first.target;
    refuseUnused(inputs, values);
    const toPlans = (notes: NoteFolder | null) =>
      inputs.map((input) => plan(input, values, { inputs: inputs.length, notes }));
    const path = textOf(values.output);
    return withNoteFolder(toNoteFolderPath(values), context.stdout, (notes) => {
      const planned = toPlans(notes);
      return path === undefined
        ? readAll(planned, context)
        : withOutputFile(path, (stdout) => readAll(planned, { ...context, stdout }));
    });
  }),
};

function refuseUnused(inputs: readonly ReadInput[], values: OptionValues): void {
  const requested = inputs.flatMap(({ target }) => ('read' in target ? [reads[target.read]] : []));
  if (requested.length === 0) return;
  for (const name of Object.keys(values)) {
    const supported = kindsWithOption(name);
    if (supported.length === 0) continue;
    if (supported.some(({ read }) => requested.includes(read))) continue;
    const names = Object.hasOwn(listOptions, name)
      ? 'the lists of an account or a search'
      : supported.map((one) => one.name).join(' or ');
    throw new UsageError(`--${name} can be used only with ${names}.`);
  }
}

function kindsWithOption(name: string): readonly (typeof kinds)[number][] {
  if (Object.hasOwn(listOptions, name)) return kinds.filter(({ read }) => read !== reads.getPost);
  return Object.hasOwn(parameterOptions, name) ? readOptions.readsWith(name) : [];
}

interface PlanOptions {
  /** Total number of inputs. Some output formats allow only one input. */
  readonly inputs: number;
  /** Folder in which to save posts as notes instead of printing them; `null` to print. */
  readonly notes: NoteFolder | null;
}

function plan(
  { text, target }: ReadInput,
  values: OptionValues,
  { inputs, notes }: PlanOptions,
): PlannedRead {
  const ofAddress = 'read' in target ? target.given.format : undefined;
  const format = notes === null ? toFormat(values, ofAddress) : 'markdown';
  const isJson = format === 'json';
  const shown = { text, isJson, isAlone: inputs === 1 };
  if (!('read' in target)) return { ...shown, print: target };
  const reason = wholeFiles.get(format);
  if (reason !== undefined && inputs > 1) {
    throw new UsageError(`--format ${format} can be used with one input only, because ${reason}.`);
  }
  const read: Read = reads[target.read];
  const parameters = { ...target.given, ...readOptions.toParameters(read, values), format };
  if (read === reads.getPost) {
    return {
      ...shown,
      print: (fetching, context) =>
        notes === null
          ? printPost(parameters, fetching, context)
          : savePost(parameters, fetching, notes),
    };
  }
  const all = values.all === true;
  const limit = textOf(values.limit) ?? (all ? undefined : textOf(target.given.limit));
  const list = { read, parameters, count: toItemCount(limit, all), notes };
  return { ...shown, print: (fetching, context) => printList(list, fetching, context) };
}

const wholeFiles: ReadonlyMap<string, string> = new Map([
  ['obsidian', 'front matter must be at the top of a file'],
  ['html', 'a file contains one HTML page'],
  ...feedFormats.map((format) => [format, 'a file contains one feed'] as const),
]);

function toFormat({ json, format }: OptionValues, ofAddress: OptionValues[string]): string {
  const named = textOf(format) ?? textOf(ofAddress);
  if (json !== true) return named?.toLowerCase() ?? 'markdown';
  if (format === undefined || format === 'json') return 'json';
  throw new UsageError('--json cannot be used together with another --format.');
}

const searchReadOptions = createReadOptions([{ read: reads.searchPosts, name: 'a search' }]);
const { format: _format, ...searchParameterOptions } = searchReadOptions.options;

const searchOptions = { ...searchParameterOptions, ...listOptions, ...jsonOption, ...noteOptions };

export const searchCommand: CommandBody = {
  exits: 'Exit code: 0 success (also without results), 2 bad usage, 3 source not available.',
  ...withOptions(searchOptions, (values, [q, ...more]) => {
    if (q === undefined) throw new UsageError('Give the text to search for.');
    if (more.length > 0) {
      throw new UsageError('search takes one text. Put several words in quotation marks.');
    }
    const { limit, all, json = false } = values;
    const format = json ? 'json' : 'markdown';
    const parameters = { q, ...searchReadOptions.toParameters(reads.searchPosts, values), format };
    const list = { read: reads.searchPosts, parameters, count: toItemCount(limit, all) };
    const path = toNoteFolderPath(values);
    return (context) =>
      withNoteFolder(path, context.stdout, (notes) =>
        withFetching(context, (fetching) => printList({ ...list, notes }, fetching, context)),
      );
  }),
};

interface PlannedRead {
  readonly text: string;
  /** The error instead of a function if the input is invalid. */
  readonly print:
    | ((fetching: Fetching, context: CommandContext) => Promise<void>)
    | Problem
    | UsageError;
  readonly isJson: boolean;
  readonly isAlone: boolean;
}

/** Fetches and prints all inputs, even if some inputs fail. Returns the most severe exit code. */
async function readAll(planned: readonly PlannedRead[], context: CommandContext) {
  const createPage = createPages(context.stdout);
  const readEach = async (fetching: Fetching | null): Promise<ExitCode> => {
    let code: ExitCode = exitCodes.ok;
    for (const one of planned) {
      if (context.stdout.hasLeft) break;
      code = worstOf(code, await readOne(one, fetching, { ...context, stdout: createPage() }));
    }
    return code;
  };
  const areAllInvalid = planned.every(({ print }) => print instanceof Error);
  return areAllInvalid ? readEach(null) : withFetching(context, readEach);
}

function createPages(stdout: Output): () => Output {
  let gap = '';
  return () => {
    let before = gap;
    return {
      ...stdout,
      get hasLeft() {
        return stdout.hasLeft;
      },
      write: (text) => {
        stdout.write(`${before}${text}`);
        before = '';
        gap = '\n';
      },
    };
  };
}

async function readOne(
  { text, print, isJson, isAlone }: PlannedRead,
  fetching: Fetching | null,
  context: CommandContext,
): Promise<ExitCode> {
  // With several inputs, lines of JSON before and after the items identify the input.
  const tag = (line: object) => {
    if (isJson && !isAlone) context.stdout.writeJson(toJsonLines([line]));
  };
  tag({ input: text });
  try {
    if (print instanceof Error) throw print;
    if (fetching === null) throw new Error('The providers are not open.');
    await print(fetching, context);
    return exitCodes.ok;
  } catch (error) {
    if (error instanceof Problem) {
      tag({ error: toProblemDocument(error, { baseUrl: context.config.PERCH_BASE_URL }) });
      const { exit, message } = toCommandError(error);
      context.stderr.write(`perch: ${isAlone ? '' : `${text}: `}${message}\n`);
      return exit;
    }
    if (!(error instanceof UsageError)) throw error;
    tag({ error: { detail: error.message } });
    context.stderr.write(`perch: ${error.message}\n`);
    return exitCodes.usage;
  }
}
