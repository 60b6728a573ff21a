import { existsSync } from 'node:fs';
import { lockName } from './data-folder.ts';
import { isCode, makePrivateFile, withPath } from './private-files.ts';
import { connectSqlite } from './sqlite.ts';

/** Lock on a file, until `release` is called or the process ends. */
export interface FileLock {
  release(): void;
}

export class FileLockedError extends Error {
  override readonly name = 'FileLockedError';
}

const statements = {
  exclusive: 'BEGIN EXCLUSIVE',
  // Reading takes the shared lock, also for an empty file.
  shared: 'BEGIN; SELECT 1 FROM sqlite_schema',
} as const;

/** Locks a file, created if missing. Throws FileLockedError if it stays locked for `waitMs`. */
export function lockFile(
  path: string,
  kind: keyof typeof statements = 'exclusive',
  waitMs = 0,
): FileLock {
  const database = connectSqlite({ path, busyMs: waitMs });
  try {
    withPath(path, () => database.exec(statements[kind]));
  } catch (cause) {
    database.close();
    if (!isCode(cause, 'SQLITE_BUSY')) throw cause;
    throw new FileLockedError(`Another process has locked ${path}.`, { cause });
  }
  return { release: () => void database.close() };
}

const noLock: FileLock = { release: () => {} };

/** Locks a data folder against restores, if possible. Throws FileLockedError during a restore. */
export function shareDataFolder(folder: string, waitMs = 0): FileLock {
  if (!existsSync(folder)) return noLock;
  try {
    return lockDataFolder(folder, 'shared', waitMs);
  } catch (error) {
    if (isCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR')) return noLock;
    if (!(error instanceof FileLockedError)) throw error;
    throw new FileLockedError(
      `A backup is being restored into ${folder}. Wait until \`perch restore\` has ended, then try again.`,
      { cause: error },
    );
  }
}

/** Locks a data folder against all other processes. Throws FileLockedError if one uses it. */
export function seizeDataFolder(folder: string, waitMs = 0): FileLock {
  try {
    return lockDataFolder(folder, 'exclusive', waitMs);
  } catch (error) {
    if (!(error instanceof FileLockedError)) throw error;
    throw new FileLockedError(
      `Another process uses the data directory ${folder}, such as a server, \`perch mcp\` or \`perch archive import\`. Stop it, then try again.`,
      { cause: error },
    );
  }
}

function lockDataFolder(folder: string, kind: keyof typeof statements, waitMs: number): FileLock {
  const path = `${folder}/${lockName}`;
  makePrivateFile(path);
  return lockFile(path, kind, waitMs);
}
