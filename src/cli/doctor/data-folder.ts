import { accessSync, constants, type Stats, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { listOwnFiles } from '../../core/files/data-folder.ts';
import { isAccessibleByOthers, isCode } from '../../core/files/private-files.ts';
import { fault, ok, type Result, warning } from './finding.ts';

const space = {
  /** Free space in bytes below which the disk counts as full. */
  full: 64 * 2 ** 20,
  /** Free space in bytes below which the disk counts as nearly full. */
  low: 2 ** 30,
} as const;

interface FolderOptions {
  readonly folder: string;
  /** Returns the free space, in bytes, of the disk that contains an existing path. */
  readonly readFreeBytes?: (path: string) => number;
}

/** Checks that the folder is usable and private, and that its disk has enough free space. */
export function checkDataFolder({ folder, readFreeBytes = freeBytes }: FolderOptions) {
  if (folder === ':memory:') {
    return [ok('Perch stores nothing on disk, because PERCH_DATA_DIR is :memory:.')];
  }
  const path = resolve(folder);
  const existing = findExisting(path);
  const stats = statSync(existing);
  if (!stats.isDirectory()) {
    const message = `PERCH_DATA_DIR is ${path}, but ${existing} is not a directory.`;
    return [fault(message, 'Set PERCH_DATA_DIR to a directory.')];
  }
  const isMissing = existing !== path;
  if (!canAccess(existing, constants.R_OK | constants.W_OK | constants.X_OK)) {
    return [isMissing ? describeParent(path, existing) : describeOwner(path, stats)];
  }
  const found = [
    ...(isMissing ? [] : findAccess(path, stats)),
    ...(isMissing ? [] : findForeignFiles(path, stats)),
    ...findSpace(existing, readFreeBytes(existing)),
  ];
  if (found.length > 0) return found;
  const free = toSize(readFreeBytes(existing));
  if (isMissing) return [ok(`Perch will create ${path} at the first start; ${free} are free.`)];
  return [ok(`${path} can be used; ${free} are free.`)];
}

function describeParent(path: string, parent: string): Result {
  if (!canAccess(parent, constants.X_OK)) {
    const message = `The user ${userName()} has no permission to open ${parent}, which contains the data folder ${path}.`;
    return fault(
      message,
      'Run perch as the user that runs the server, or set PERCH_DATA_DIR to another folder.',
    );
  }
  return fault(
    `The user ${userName()} has no permission to create ${path} in ${parent}.`,
    `Run \`install -d -m 700 -o ${userName()} ${path}\` as root, or set PERCH_DATA_DIR to another folder.`,
  );
}

const describeOwner = (path: string, { uid }: Stats): Result =>
  fault(
    `The user ${userName()} has no permission to read and write ${path}.`,
    chownAdvice(path, uid),
  );

/** Returns `path` if it exists, otherwise the innermost parent folder that exists. */
function findExisting(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    try {
      statSync(at);
      return at;
    } catch (error) {
      // Without the permission to search a folder, the result is this folder, because nothing below
      // it can be found.
      if (!isCode(error, 'ENOENT', 'ENOTDIR', 'EACCES') || at === dirname(at)) throw error;
    }
  }
}

function canAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function findAccess(path: string, stats: Stats): readonly Result[] {
  if (!isAccessibleByOthers(stats)) return [];
  const mode = (stats.mode & 0o7777).toString(8);
  const message = `Other users can access the data directory ${path} (its permissions are ${mode}).`;
  return [warning(message, `Run \`chmod 700 ${path}\`.`)];
}

const maxNames = 3;

function findForeignFiles(path: string, { uid }: Stats): readonly Result[] {
  const names = listOwnFiles(path);
  const unusable = names.filter(
    (name) => !canAccess(`${path}/${name}`, constants.R_OK | constants.W_OK),
  );
  if (unusable.length > 0) {
    const message = `The user ${userName()} has no permission to read and write ${listNames(unusable)} in ${path}.`;
    return [fault(message, chownAdvice(path, uid))];
  }
  const foreign = names.filter((name) => ownerOf(`${path}/${name}`, uid) !== uid);
  if (foreign.length === 0) return [];
  const message = `${listNames(foreign)} in ${path} and the directory itself belong to different users.`;
  return [warning(message, `Run \`chown -R USER ${path}\` with the user that runs the server.`)];
}

const ownerOf = (path: string, byDefault: number): number =>
  statSync(path, { throwIfNoEntry: false })?.uid ?? byDefault;

function listNames(names: readonly string[]): string {
  const more = names.length - maxNames;
  return [...names.slice(0, maxNames), ...(more > 0 ? [`${more} more files`] : [])].join(', ');
}

const userName = () => (process.getuid === undefined ? 'that runs Perch' : process.getuid());

function chownAdvice(path: string, owner: number): string {
  const self = userName();
  const give = `\`chown -R ${self} ${path}\` as root`;
  if (owner === self) return `Run ${give} and \`chmod u+rwx ${path}\`.`;
  return `Run perch as the user ${owner}, the owner of the directory. If the user ${self} runs the server, run ${give}.`;
}

function findSpace(path: string, free: number): readonly Result[] {
  if (free >= space.low) return [];
  const message = `The disk with ${path} has only ${toSize(free)} of free space.`;
  const advice = 'Free some space, or set PERCH_DATA_DIR to a directory on another disk.';
  return [free < space.full ? fault(message, advice) : warning(message, advice)];
}

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

function toSize(bytes: number): string {
  const mib = bytes / 2 ** 20;
  return mib < 1024 ? `${mib.toFixed(0)} MiB` : `${(mib / 1024).toFixed(1)} GiB`;
}
