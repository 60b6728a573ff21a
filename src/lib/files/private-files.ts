import {
  chmodSync,
  closeSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  openSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';

const privateFolderMode = 0o700;
const privateFileMode = 0o600;

/** Returns whether an error has one of the given codes, such as `ENOENT`. */
export const isCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

/** Returns whether nothing has this path. Throws Error if the check fails, as with `EACCES`. */
export function isMissing(path: string): boolean {
  try {
    // The option `throwIfNoEntry` of Node 24 also hides the error that a part of the path is a
    // file.
    withPath(path, () => statSync(path));
    return false;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return true;
    throw error;
  }
}

/** Creates a folder and its parents. Node's recursive `mkdir` can hang, such as in `/proc`. */
export function makeFolder(path: string, mode = 0o777): void {
  if (makeOneFolder(path, mode) === null) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent, mode);
  const error = makeOneFolder(path, mode);
  if (error !== null) throw error;
}

function makeOneFolder(path: string, mode: number): unknown {
  try {
    mkdirSync(path, { mode });
    if (mode === privateFolderMode) giveToOwnerOf(dirname(path), path);
    return null;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return error;
    if (isCode(error, 'EEXIST') && statSync(path).isDirectory()) return null;
    throw error;
  }
}

/** Creates missing folders with mode 0700; as root, with the owner of their parent. */
export function makePrivateFolder(path: string): void {
  makeFolder(path, privateFolderMode);
}

/** Creates an empty file, or keeps an existing one, and removes other users' access to it. */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', privateFileMode));
    giveToOwnerOf(dirname(path), path);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    restrictToOwner(path);
  }
}

/** Sets the owner, if root, to that of `folder`, so that the server can use the file. */
export function giveToOwnerOf(folder: string, path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  try {
    lchownSync(path, uid, gid); // the owner of the folder could replace the file by a link
  } catch (error) {
    // In some containers and network file systems, root may not do this.
    if (!isCode(error, 'EPERM', 'EINVAL', 'ENOTSUP', 'ENOENT')) throw error;
  }
}

/** Removes others' access. Does not open the file, as closing would release SQLite's locks. */
export function restrictToOwner(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !isAccessibleByOthers(stats)) return;
  if (!stats.isFile() && !stats.isDirectory()) return;
  try {
    chmodSync(path, stats.isFile() ? privateFileMode : privateFolderMode);
  } catch (error) {
    if (!isCode(error, 'EPERM', 'EROFS', 'ENOENT', 'ENOTSUP')) throw error;
  }
}

/** Returns whether other users have access; `false` on systems without permission bits. */
export const isAccessibleByOthers = ({ mode }: Pick<Stats, 'mode'>): boolean =>
  process.getuid !== undefined && (mode & 0o077) !== 0;

/** Runs `work`. Adds `path` to errors of the system and SQLite that have none. */
export function withPath<Value>(path: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    const lacksPath = error instanceof Error && 'code' in error && !('path' in error);
    throw lacksPath ? Object.assign(error, { path }) : error;
  }
}

/** Flushes the names in a folder to disk, so that a rename survives a power failure. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
