import { systemClock } from '../../core/clock.ts';
import type { FileLock } from '../../core/files/file-lock.ts';
import { makePrivateFolder } from '../../core/files/private-files.ts';
import type { CommandContext } from '../command.ts';
import { explainOpenError } from '../output/explain.ts';
import { enterDataFolder } from './swap.ts';

/**
 * Locks the data folder for a command. With `use` set to `created`, first creates the folder if it is missing. Prints
 * the error and returns `null` if a restore is running, or if an interrupted restore cannot be finished.
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

/**
 * Creates a folder if it is missing. Ignores errors, because the command reports the same error
 * when it opens a file in the folder.
 */
function createIfPossible(path: string): void {
  try {
    makePrivateFolder(path);
  } catch {
    // The command opens a file in the folder, which fails with the same error.
  }
}
