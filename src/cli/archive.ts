import { listAction, removeAction } from './archive/accounts.ts';
import { exportAction } from './archive/export.ts';
import { importAction } from './archive/import.ts';
import type { CommandBody } from './command.ts';
import { withSubcommands } from './command.ts';

export const archiveCommand: CommandBody = {
  exits:
    'Exit code: 0 success, 1 no such account or nothing to import, 2 bad usage, 3 archive or export not usable or incomplete.',
  ...withSubcommands('archive', {
    import: importAction,
    list: listAction,
    remove: removeAction,
    export: exportAction,
  }),
};
