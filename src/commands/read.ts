import type { Fetching } from '../open-fetching.ts';
import { reads } from '../reads/index.ts';
import type { Read } from '../reads/read.ts';
import { render } from '../render/formats.ts';
import { listOptions, parseCommandArgs, printOptions, toItemCount } from './arguments.ts';
import { type Command, type CommandContext, UsageError } from './command.ts';
import { withFetching } from './open-reading.ts';
import { type ListPrint, printList } from './print-list.ts';

/** `perch read`: a post, a profile or a list of accounts on standard output, without a server. */
export const readCommand: Command = {
  usage: 'read URL | @HANDLE | @HANDLE/followers | @HANDLE/following [options]',
  summary: `Prints a post, or a profile with its posts, or a list of accounts, as Markdown.
  --full           adds exact times, metrics and profile detail
  --json           prints JSON instead: the body of a post, a line for each item of a list
  --format         of a post: markdown, json or obsidian
  --limit N        how many posts or accounts; default 20
  --all            all of them, page by page
  --with-replies   of a profile: its replies to others too
  --with-reposts   of a profile: what it reposted too
  --until MOMENT   of a profile: only posts from before then
Exit code: 0 printed, 1 not found, 2 bad usage, 3 upstream trouble.`,
  run: (args, context) => {
    const { values, positionals } = parseCommandArgs(args, readOptions);
    const target = toTarget(positionals);
    const print = isList(target) ? toListPrint(target, values) : toPostPrint(target, values);
    return withFetching(context, async (fetching) => {
      if ('count' in print) await printList(print, fetching, context);
      else await printPost(print, fetching, context);
    });
  },
};

const readOptions = {
  ...printOptions,
  ...listOptions,
  format: { type: 'string' },
  'with-replies': { type: 'boolean' },
  'with-reposts': { type: 'boolean' },
  until: { type: 'string' },
} as const;

type Values = ReturnType<typeof parseCommandArgs<typeof readOptions>>['values'];

interface ListTarget {
  readonly handle: string;
  readonly read: Read;
}

type Target = ListTarget | { readonly url: string };

const lists: Readonly<Record<string, Read>> = {
  '': reads.getProfile,
  followers: reads.listFollowers,
  following: reads.listFollowing,
};

/** What begins with `@` is a handle, maybe with a list behind it; everything else a URL. */
function toTarget(positionals: readonly string[]): Target {
  const [first, ...more] = positionals;
  if (first === undefined) throw new UsageError('read needs the URL of a post, or an @handle');
  if (more.length > 0)
    throw new UsageError(`read takes one URL or handle, not ${positionals.length}`);
  if (!first.startsWith('@')) return { url: first };
  const [handle = '', list = '', ...rest] = first.slice(1).split('/');
  const read = rest.length === 0 && Object.hasOwn(lists, list) ? lists[list] : undefined;
  if (read === undefined) {
    throw new UsageError(`${first} is no list of an account; there are /followers and /following`);
  }
  return { handle, read };
}

function isList(target: Target): target is ListTarget {
  return 'handle' in target;
}

const profileOptions = ['with-replies', 'with-reposts', 'until'] as const;

function toListPrint({ handle, read }: ListTarget, values: Values): ListPrint {
  if (read !== reads.getProfile) refuse(values, profileOptions, 'is for a profile');
  const format = toFormat(values);
  const given = {
    handle,
    format,
    full: String(values.full ?? false),
    with_replies: values['with-replies'] === true ? 'true' : undefined,
    with_reposts: values['with-reposts'] === true ? 'true' : undefined,
    until: values.until,
  };
  return { read, given, count: toItemCount(values), json: format === 'json' };
}

interface PostPrint {
  readonly given: Readonly<Record<string, string>>;
}

function toPostPrint({ url }: { readonly url: string }, values: Values): PostPrint {
  refuse(values, ['limit', 'all', ...profileOptions], 'is for the lists of an @handle');
  return { given: { url, format: toFormat(values), full: String(values.full ?? false) } };
}

function refuse(values: Values, names: readonly (keyof Values)[], reason: string): void {
  const given = names.find((name) => values[name] !== undefined);
  if (given !== undefined) throw new UsageError(`--${given} ${reason}`);
}

function toFormat({ json, format }: Values): string {
  if (json !== true) return format ?? 'markdown';
  if (format === undefined || format === 'json') return 'json';
  throw new UsageError('--json and --format contradict each other');
}

async function printPost(
  { given }: PostPrint,
  { fetcher, context }: Fetching,
  { stdout }: CommandContext,
): Promise<void> {
  const understood = reads.getPost.understand(given, context);
  const answer = await fetcher.fetch(understood.plan);
  const { body } = render(understood.assemble(answer), understood.format ?? 'markdown');
  stdout.write(body.endsWith('\n') ? body : `${body}\n`);
}
