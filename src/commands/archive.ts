import { planExport } from './archive-export.ts';
import { planImport } from './archive-import.ts';
import { planList } from './archive-list.ts';
import { planRemove } from './archive-remove.ts';
import { type Command, type CommandContext, type ExitCode, UsageError } from './command.ts';

/** `perch archive`: what the embedded archive holds of real accounts, beside the server or while it runs. */
export const archiveCommand: Command = {
  usage: 'archive import | list | remove | export',
  summary: `Imports exports of accounts into the archive, and shows, exports and removes what it holds.
  import FILE…          reads exports, each a file or a folder; one that was stopped goes on
  list [--json]         prints the accounts that are held, or a line of JSON for each
  remove HANDLE         removes an account and all that belongs to it
  export [HANDLE…]      writes what is held, of these accounts or of all, as NDJSON
  export HANDLE --format markdown --output FOLDER
                        writes an account's archive as notes, a file for each thread
  --output FILE         where export writes; default: standard output
  --format NAME         how export writes: ndjson, the default, or markdown
  --form NAME           takes the exports for this form, where it is not seen by itself
  --handle HANDLE       what the account of the export is called, where only its id is in it
  --platform NAME       where a handle could be of several platforms: x, bluesky or mastodon
  --json                prints a line of JSON for each export
Exit code: 0 done, 1 no such account, 2 bad usage or no export, 3 archive or export unusable, cut off or stopped.`,
  run: async (args, context) => {
    const [name = '', ...rest] = args;
    const plan = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
    if (plan === undefined) {
      throw new UsageError(`archive does one of these: ${Object.keys(subcommands).join(', ')}`);
    }
    return plan(rest, context);
  },
};

const subcommands: Readonly<
  Record<string, (args: readonly string[], context: CommandContext) => Promise<ExitCode>>
> = {
  import: planImport,
  list: planList,
  remove: planRemove,
  export: planExport,
};
