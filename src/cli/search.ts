import { reads } from '../reads/index.ts';
import { jsonOption, listOptions, parseCommandArgs, toItemCount } from './arguments.ts';
import { type CommandBody, type CommandOptions, exitCodes, UsageError } from './command.ts';
import { withFetching } from './reading/open-reading.ts';
import { printList } from './reading/print-list.ts';
import { createReadOptions } from './reading/read-options.ts';

const readOptions = createReadOptions([{ read: reads.searchPosts, name: 'a search' }]);
const { format: _format, ...ofSearch } = readOptions.options;

const options = {
  ...listOptions,
  ...jsonOption,
} as const satisfies CommandOptions;

/** `perch search`: posts or accounts that a search finds, on standard output, without a server. */
export const searchCommand: CommandBody = {
  options: { ...ofSearch, ...options },
  exits: 'Exit code: 0 printed (also when nothing is found), 2 bad usage, 3 upstream trouble.',
  plan: (args) => {
    const { values, positionals } = parseCommandArgs(args, { ...ofSearch, ...options });
    const [q, ...more] = positionals;
    if (q === undefined) throw new UsageError('search needs the search text');
    if (more.length > 0) {
      throw new UsageError('search takes one text; put several words in quotation marks');
    }
    const read = reads.searchPosts;
    const given = { q, ...readOptions.toGiven(read, values) };
    const print = { read, given, count: toItemCount(values), json: values.json ?? false };
    return (context) =>
      withFetching(context, async (fetching) => {
        await printList(print, fetching, context);
        return exitCodes.ok;
      });
  },
};
