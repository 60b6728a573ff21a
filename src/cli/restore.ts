import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../core/clock.ts';
import { seizeDataFolder } from '../core/files/folder-lock.ts';
import { makePrivateFolder } from '../core/files/private-files.ts';
import { discardIncomplete, openIncomplete, recover, replaceFiles } from './backup/data-folder.ts';
import { listMediaCount, requireSpace } from './backup/manifest.ts';
import { type Backup, openBackup } from './backup/read-backup.ts';
import {
  type CommandBody,
  type CommandContext,
  CommandError,
  type ExitCode,
  exitCodes,
  UsageError,
  withOptions,
} from './command.ts';
import { explainOpenError } from './output/explain.ts';
import { withStopSignal } from './stop-signal.ts';
import { dataFolderOf } from './stores.ts';

/** Command `perch restore`, which needs a stopped server. */
export const restoreCommand: CommandBody = {
  folder: 'own',
  details: `Stop the server first. The command checks the whole backup before it changes anything, and keeps the earlier data
in a folder of the data directory. If the command is interrupted, either all the earlier data or all the restored data remains in use.`,
  exits:
    'Exit code: 0 success, 2 bad usage or not a backup, 3 backup damaged or too new, or data directory in use or not writable.',
  ...withOptions(
    { check: { type: 'boolean', about: 'Only checks the backup, and restores nothing.' } },
    ({ check = false }, [file, ...more]) => {
      if (file === undefined || file === '' || more.length > 0) {
        throw new UsageError('Name the FILE that `perch backup` has written.');
      }
      return (context) => withBackup(file, context, check ? checkBackup : restoreBackup);
    },
  ),
};

type Use = (backup: Backup, context: CommandContext, signal: AbortSignal) => Promise<ExitCode>;

/** Closes the backup after `use`. @throws CommandError with a message for the user */
async function withBackup(file: string, context: CommandContext, use: Use): Promise<ExitCode> {
  const backup = await openBackup(file);
  try {
    return await withStopSignal(async (signal) => {
      try {
        return await use(backup, context, signal);
      } catch (error) {
        if (error instanceof CommandError || error instanceof UsageError) throw error;
        const fault = signal.aborted
          ? 'The command was stopped. The data is unchanged.'
          : explainOpenError(error, context.config);
        throw new CommandError('upstream', fault, { cause: error });
      }
    });
  } finally {
    backup.close();
  }
}

const checkBackup: Use = async (backup, { stdout, stderr }, signal) => {
  const target = mkdtempSync(join(tmpdir(), 'perch-restore-')); // accessible only to this user
  try {
    await extractAll({ backup, target, signal, stderr }, null);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
  stdout.write(`${backup.path} is complete and can be restored: ${describe(backup)}\n`);
  return exitCodes.ok;
};

const restoreBackup: Use = async (backup, context, signal) => {
  const folder = dataFolderOf(context, 'the restored data');
  makePrivateFolder(folder);
  const lock = seizeDataFolder(folder);
  try {
    recover(folder, systemClock.now());
    const target = openIncomplete(folder);
    try {
      await extractAll({ backup, target, signal, stderr: context.stderr }, target);
    } catch (error) {
      discardIncomplete(folder);
      throw error;
    }
    const earlier = replaceFiles(folder, systemClock.now());
    report(backup, context, earlier);
    return exitCodes.ok;
  } finally {
    lock.release();
  }
};

interface ExtractOptions {
  readonly backup: Backup;
  readonly target: string;
  readonly signal: AbortSignal;
  readonly stderr: CommandContext['stderr'];
}

async function extractAll(
  { backup, target, signal, stderr }: ExtractOptions,
  mediaTarget: string | null,
): Promise<void> {
  const { files, media } = backup.manifest;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  requireSpace(target, bytes + (mediaTarget === null ? 0 : media.bytes));
  try {
    for (const file of files) {
      stderr.showLine(`perch: Checking ${file.name}`);
      await backup.extract(file, target, signal);
    }
    if (media.files > 0) stderr.showLine('perch: Checking the media files');
    await backup.extractMedia(mediaTarget, signal);
    signal.throwIfAborted();
  } finally {
    stderr.clearLine();
  }
}

function report(backup: Backup, context: CommandContext, earlier: string | null): void {
  const { stdout, stderr, config } = context;
  const { shared_engine } = backup.manifest;
  stdout.write(`Restored ${backup.path} into ${config.PERCH_DATA_DIR}: ${describe(backup)}\n`);
  if (earlier !== null) {
    stdout.write(
      `The earlier data is in ${earlier}. Delete this folder when you no longer need it.\n`,
    );
  }
  if (shared_engine || config.PERCH_REDIS_URL !== undefined) {
    stderr.write(
      'perch: Keys, sessions and secrets in a shared engine (PERCH_REDIS_URL) are not restored. Restore the shared engine too; see docs/backup.md.\n',
    );
  }
}

function describe({ manifest: { files, media, created, perch } }: Backup): string {
  const names = [...files.map(({ name }) => name), ...listMediaCount(media)];
  return `${names.join(', ')} (made at ${created} by Perch ${perch})`;
}
