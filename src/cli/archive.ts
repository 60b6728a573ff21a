import { exportOptions, planExport } from './archive/export.ts';
import { importOptions, planImport } from './archive/import.ts';
import { listOptions, planList } from './archive/list.ts';
import { planRemove, removeOptions } from './archive/remove.ts';
import { chooseByName } from './arguments.ts';
import type { Action, CommandBody } from './command.ts';

const subcommands: Readonly<Record<string, Action>> = {
  import: {
    usage: 'import FILE… [options]',
    about: 'Reads exports, each a file or a folder; one that was stopped goes on.',
    options: importOptions,
    plan: planImport,
  },
  list: {
    usage: 'list [--json]',
    about: 'Prints the accounts that are held.',
    options: listOptions,
    plan: planList,
  },
  remove: {
    usage: 'remove HANDLE [--platform NAME]',
    about: 'Removes an account and all that belongs to it.',
    options: removeOptions,
    plan: planRemove,
  },
  export: {
    usage: 'export [HANDLE…] [options]',
    about:
      'Writes what is held, of these accounts or of all, as NDJSON, or one account as a folder of notes.',
    options: exportOptions,
    plan: planExport,
  },
};

/** `perch archive`: what the embedded archive holds of real accounts, beside the server or while it runs. */
export const archiveCommand: CommandBody = {
  exits:
    'Exit code: 0 done, 1 no such account, 2 bad usage or no export, 3 archive or export unusable, cut off or stopped.',
  subcommands,
  plan: ([name = '', ...args]) =>
    chooseByName(subcommands, name, 'archive does one of these').plan(args),
};
