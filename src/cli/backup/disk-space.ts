import { statfsSync } from 'node:fs';
import { CommandError } from '../command.ts';

/** Throws CommandError if the disk that contains `folder` has less than `bytes` bytes of free space. */
export function requireSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new CommandError(
    'upstream',
    `The disk with ${folder} has ${toSize(free)} free, but the command needs ${toSize(bytes)}. Free some space and run the command again.`,
  );
}

/** Formats a number of bytes: `12.3 MB`. */
export function toSize(bytes: number): string {
  const megabytes = bytes / 1e6;
  return megabytes < 1000 ? `${megabytes.toFixed(1)} MB` : `${(megabytes / 1000).toFixed(1)} GB`;
}
