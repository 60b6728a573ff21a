import { reads } from '../reads/index.ts';
import { jsonOption, listOptions, toItemCount, withOptions } from './arguments.ts';
import { type CommandBody, type CommandContext, exitCodes, UsageError } from './command.ts';
import type { NoteFolder } from './reading/note-folder.ts';
import { withNoteFolder } from './reading/note-folder.ts';
import { noteOptions, toNoteFolderPath } from './reading/notes.ts';
import { withFetching } from './reading/open-reading.ts';
import { printList } from './reading/print.ts';
import { createReadOptions } from './reading/read-options.ts';

const read = reads.searchPosts;
const readOptions = createReadOptions([{ read, name: 'a search' }]);
const { format: _format, ...parameterOptions } = readOptions.options;

const options = { ...parameterOptions, ...listOptions, ...jsonOption, ...noteOptions };

export const searchCommand: CommandBody = {
  exits: 'Exit code: 0 success (also without results), 2 bad usage, 3 source not available.',
  ...withOptions(options, (values, [q, ...more]) => {
    if (q === undefined) throw new UsageError('Give the text to search for.');
    if (more.length > 0) {
      throw new UsageError('search takes one text. Put several words in quotation marks.');
    }
    const { limit, all, json = false } = values;
    const format = json ? 'json' : 'markdown';
    const parameters = { q, ...readOptions.toParameters(read, values), format };
    const list = { read, parameters, count: toItemCount(limit, all) };
    const path = toNoteFolderPath(values);
    const run = (context: CommandContext, notes: NoteFolder | null) =>
      withFetching(context, async (fetching) => {
        await printList({ ...list, notes }, fetching, context);
        return exitCodes.ok;
      });
    return (context) =>
      path === undefined
        ? run(context, null)
        : withNoteFolder(path, context.stdout, (notes) => run(context, notes));
  }),
};
