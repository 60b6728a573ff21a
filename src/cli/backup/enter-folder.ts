import { systemClock } from '../../core/clock.ts';
import type { FileLock } from '../../core/files/file-lock.ts';
import { makePrivateFolder } from '../../core/files/private-files.ts';
import type { CommandContext } from '../command.ts';
import { explainOpenError } from '../output/explain.ts';
import { enterDataFolder } from './swap.ts';

/**
 * Locks the data folder for a command. With `created`, first creates a missing folder. Prints the error and returns
 * `null` if a backup is being restored, or if an interrupted restore cannot be finished.
 */
export async function enterFolder(
  path: string,
  use: 'shared' | 'created',
  { config, stderr }: CommandContext,
): Promise<FileLock | null> {
  try {
    if (use === 'created') createIfPossible(path);
    return await enterDataFolder(path, systemClock);
  } catch (error) {
    stderr.write(`perch: ${explainOpenError(error, config)}\n`);
    return null;
  }
}

/** Creates a missing folder. Ignores errors, because the command then reports them. */
function createIfPossible(path: string): void {
  try {
    makePrivateFolder(path);
  } catch {
    // The command opens a file in the folder, which fails with the same error.
  }
}
