import { statfsSync } from 'node:fs';
import { CommandError } from '../command.ts';

/** Checks the disk of `folder`. @throws CommandError if fewer than `bytes` bytes are free */
export function requireSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new CommandError(
    'upstream',
    `The disk with ${folder} has ${toSize(free)} free, but the command needs ${toSize(bytes)}. Free some space and run the command again.`,
  );
}

export function toSize(bytes: number): string {
  const megabytes = bytes / 1e6;
  return megabytes < 1000 ? `${megabytes.toFixed(1)} MB` : `${(megabytes / 1000).toFixed(1)} GB`;
}
