import { platform } from '../model/reference.ts';
import { feedFormats } from '../model/results.ts';
import { reads } from '../reads/index.ts';
import type { Read } from '../reads/read.ts';
import { jsonOption, listOptions, toItemCount, withOptions } from './arguments.ts';
import { type CommandBody, type CommandOptions, UsageError } from './command.ts';
import { withOutputFile } from './output/output-file.ts';
import { type NoteFolder, withNoteFolder } from './reading/note-folder.ts';
import { noteOptions, savePost, toNoteFolderPath } from './reading/notes.ts';
import { printList, printPost } from './reading/print.ts';
import { type PlannedRead, readAll } from './reading/read-all.ts';
import { listInputs, parseInput, type ReadInput } from './reading/read-inputs.ts';
import { createReadOptions, type OptionValues, textOf } from './reading/read-options.ts';

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
    const parsing = {
      baseUrl: config.PERCH_BASE_URL,
      xMirrors: config.PERCH_X_MIRRORS,
      mastodonSearchHost: config.PERCH_MASTODON_SEARCH_HOST,
      platform: textOf(values.platform),
    };
    const inputs = (await listInputs(positionals, stdin)).map((text) => parseInput(text, parsing));
    const [first, ...more] = inputs;
    // If the only input is invalid, the usage of the command is printed too.
    if (first?.target instanceof UsageError && more.length === 0) throw first.target;
    refuseUnused(inputs, values);
    const toPlans = (notes: NoteFolder | null) =>
      inputs.map((input) => plan(input, values, { inputs: inputs.length, notes }));
    const folder = toNoteFolderPath(values);
    if (folder !== undefined) {
      return withNoteFolder(folder, context.stdout, (notes) => readAll(toPlans(notes), context));
    }
    const planned = toPlans(null);
    const path = textOf(values.output);
    return path === undefined
      ? readAll(planned, context)
      : withOutputFile(path, (stdout) => readAll(planned, { ...context, stdout }));
  }),
};

/** Checks all options. @throws UsageError for an option that applies to no input */
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

/** Plans one input. @throws UsageError for invalid options */
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
