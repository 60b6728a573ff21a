import { exportAction } from './archive/export.ts';
import { importAction } from './archive/import.ts';
import { listAction } from './archive/list.ts';
import { removeAction } from './archive/remove.ts';
import { choosing } from './arguments.ts';
import type { CommandBody } from './command.ts';

/** `perch archive`: what the embedded archive holds of real accounts, beside the server or while it runs. */
export const archiveCommand: CommandBody = {
  exits:
    'Exit code: 0 done, 1 no such account, 2 bad usage or no export, 3 archive or export unusable, cut off or stopped.',
  ...choosing('archive', {
    import: importAction,
    list: listAction,
    remove: removeAction,
    export: exportAction,
  }),
};
