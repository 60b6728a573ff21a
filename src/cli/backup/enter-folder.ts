import { systemClock } from '../../core/clock.ts';
import type { FileLock } from '../../core/files/file-lock.ts';
import { makePrivateFolder } from '../../core/files/private-files.ts';
import type { CommandContext } from '../command.ts';
import { explainOpenError } from '../output/explain.ts';
import { enterDataFolder } from './swap.ts';

/** Locks the data folder. Returns `null` after printing the error if a restore blocks it. */
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

function createIfPossible(path: string): void {
  try {
    makePrivateFolder(path);
  } catch {
    // The command opens a file in the folder, which fails with the same error.
  }
}
