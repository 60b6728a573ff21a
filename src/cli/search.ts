import { reads } from '../reads/index.ts';
import { jsonOption, listOptions, taking, toItemCount } from './arguments.ts';
import { type CommandBody, exitCodes, UsageError } from './command.ts';
import { withFetching } from './reading/open-reading.ts';
import { printList } from './reading/print.ts';
import { createReadOptions } from './reading/read-options.ts';

const read = reads.searchPosts;
const readOptions = createReadOptions([{ read, name: 'a search' }]);
const { format: _format, ...ofSearch } = readOptions.options;

/** `perch search`: posts or accounts that a search finds, on standard output, without a server. */
export const searchCommand: CommandBody = {
  exits: 'Exit code: 0 printed (also when nothing is found), 2 bad usage, 3 upstream trouble.',
  ...taking({ ...ofSearch, ...listOptions, ...jsonOption }, (values, [q, ...more]) => {
    if (q === undefined) throw new UsageError('search needs the search text');
    if (more.length > 0) {
      throw new UsageError('search takes one text; put several words in quotation marks');
    }
    const given = { q, ...readOptions.toGiven(read, values) };
    const { limit, all, json = false } = values;
    const print = { read, given, count: toItemCount(limit, all), json };
    return (context) =>
      withFetching(context, async (fetching) => {
        await printList(print, fetching, context);
        return exitCodes.ok;
      });
  }),
};
