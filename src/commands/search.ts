import { reads } from '../reads/index.ts';
import { listOptions, parseCommandArgs, printOptions, toItemCount } from './arguments.ts';
import { type Command, UsageError } from './command.ts';
import { withFetching } from './open-reading.ts';
import { printList } from './print-list.ts';

/** `perch search`: posts or accounts that a search finds, on standard output, without a server. */
export const searchCommand: Command = {
  usage: 'search QUERY [options]',
  summary: `Prints what a search finds, as Markdown.
  --feed FEED      latest (default), top, photos, videos or users
  --platform NAME  x, bluesky, mastodon, archive or sample
  --since, --until MOMENT   only posts from then on, or from before then
  --full           adds exact times, metrics and profile detail
  --json           prints a line of JSON for each post or account instead
  --limit N        how many posts or accounts; default 20
  --all            all of them, page by page
Exit code: 0 printed (also when nothing is found), 2 bad usage, 3 upstream trouble.`,
  run: (args, context) => {
    const { values, positionals } = parseCommandArgs(args, searchOptions);
    const [q, ...more] = positionals;
    if (q === undefined) throw new UsageError('search needs the search text');
    if (more.length > 0) {
      throw new UsageError('search takes one text; put several words in quotation marks');
    }
    const { feed, platform, since, until, json = false, full = false } = values;
    const given = { q, feed, platform, since, until, full: String(full) };
    const print = { read: reads.searchPosts, given, count: toItemCount(values), json };
    return withFetching(context, (fetching) => printList(print, fetching, context));
  },
};

const searchOptions = {
  ...printOptions,
  ...listOptions,
  feed: { type: 'string' },
  platform: { type: 'string' },
  since: { type: 'string' },
  until: { type: 'string' },
} as const;
