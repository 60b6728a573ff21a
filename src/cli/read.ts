import { reads } from '../reads/index.ts';
import type { Read } from '../reads/read.ts';
import { jsonOption, listOptions, taking, toItemCount } from './arguments.ts';
import { type CommandBody, type CommandOptions, UsageError } from './command.ts';
import { withOutputFile } from './output/output-file.ts';
import { printList, printPost } from './reading/print.ts';
import { type PlannedRead, readAll } from './reading/read-all.ts';
import { listInputs, type ReadInput, readInput } from './reading/read-inputs.ts';
import { createReadOptions, type OptionValues, textOf } from './reading/read-options.ts';

/** The reads of the command, and the name of each in sentences. */
const kinds = [
  { read: reads.getPost, name: 'a post' },
  { read: reads.getProfile, name: 'a profile' },
  { read: reads.listFollowers, name: 'followers' },
  { read: reads.listFollowing, name: 'accounts followed' },
  { read: reads.searchPosts, name: 'a search' },
];

const readOptions = createReadOptions(kinds);
const { platform: _ofSearch, ...ofReads } = readOptions.options;

const options: CommandOptions = {
  ...ofReads,
  ...listOptions,
  ...jsonOption,
  output: { type: 'string', value: 'FILE', about: 'Writes to a file instead of standard output.' },
  platform: {
    type: 'string',
    value: 'NAME',
    about: 'What a bare id or handle is of: x, bluesky, mastodon or sample.',
  },
};

/** `perch read`: posts, profiles, lists of accounts and searches on standard output, without a server. */
export const readCommand: CommandBody = {
  details: `An input is a URL of X, of its mirrors, of Bluesky, of a Mastodon server or of Perch, also without https://;
an account (@ada, ada.example, user@host), or a path of one (@ada/followers, /following, /with_replies,
/media); a bare id or handle with --platform; or - for a list of them on standard input, one on a line,
with comments after #.
With --json a post is one line, and a list a line for each item, that of a profile after a line with
the profile. Of several inputs each one's lines follow a line that names it.`,
  exits:
    'Exit code: 0 printed, 1 not found, 2 bad usage, 3 upstream trouble; of several inputs the greatest.',
  ...taking(options, (values, positionals) => async (context) => {
    const { config, stdin } = context;
    const reading = {
      baseUrl: config.PERCH_BASE_URL,
      xMirrors: config.PERCH_X_MIRRORS,
      mastodonSearchHost: config.PERCH_MASTODON_SEARCH_HOST,
      platform: textOf(values.platform),
    };
    const texts = await listInputs(positionals, stdin);
    const inputs = texts.map((text) => readInput(text, reading));
    const [first, ...more] = inputs;
    // One input that is wrong is bad usage of the command.
    if (first?.asked instanceof UsageError && more.length === 0) throw first.asked;
    refuseUnused(inputs, values);
    const planned = inputs.map((input) => plan(input, values, inputs.length));
    const path = textOf(values.output);
    return path === undefined
      ? readAll(planned, context)
      : withOutputFile(path, (stdout) => readAll(planned, { ...context, stdout }));
  }),
};

/** Refuses an option that is for none of the inputs. Those that it is not for are read without it. */
function refuseUnused(inputs: readonly ReadInput[], values: OptionValues): void {
  const asked = inputs.flatMap(({ asked: one }) => ('read' in one ? [reads[one.read]] : []));
  if (asked.length === 0) return;
  for (const name of Object.keys(values)) {
    const takers = takersOfOption(name);
    if (takers.length === 0 || takers.some(({ read }) => asked.includes(read))) continue;
    const isCount = Object.hasOwn(listOptions, name);
    const names = isCount
      ? 'the lists of an account or a search'
      : takers.map((one) => one.name).join(' or ');
    throw new UsageError(`--${name} is for ${names}`);
  }
}

/** Returns the reads that an option is for; none if it is about the command itself. */
function takersOfOption(name: string): readonly (typeof kinds)[number][] {
  if (Object.hasOwn(listOptions, name)) return kinds.filter(({ read }) => read !== reads.getPost);
  return Object.hasOwn(ofReads, name) ? readOptions.takersOf(name) : [];
}

/** @throws UsageError for options that contradict each other, or a value that is misspelt */
function plan({ text, asked }: ReadInput, values: OptionValues, inputs: number): PlannedRead {
  const format = toFormat(values, 'read' in asked ? asked.given.format : undefined);
  const isJson = format === 'json';
  const shown = { text, isJson, isAlone: inputs === 1 };
  if (!('read' in asked)) return { ...shown, print: asked };
  if (format === 'obsidian' && inputs > 1) {
    const why = 'front matter stands at the top of a file';
    throw new UsageError(`--format obsidian is for one input: ${why}`);
  }
  const read: Read = reads[asked.read];
  const given = { ...asked.given, ...readOptions.toGiven(read, values), format };
  if (read === reads.getPost) {
    return { ...shown, print: (fetching, context) => printPost(given, fetching, context) };
  }
  const all = values.all === true;
  const limit = textOf(values.limit) ?? (all ? undefined : textOf(asked.given.limit));
  const list = { read, given, count: toItemCount(limit, all), json: isJson };
  return { ...shown, print: (fetching, context) => printList(list, fetching, context) };
}

function toFormat({ json, format }: OptionValues, ofAddress: OptionValues[string]): string {
  const named = textOf(format) ?? textOf(ofAddress);
  if (json !== true) return named?.toLowerCase() ?? 'markdown';
  if (format === undefined || format === 'json') return 'json';
  throw new UsageError('--json and --format contradict each other');
}
