import { isCode, withPath } from './private-files.ts';
import { connectSqlite } from './sqlite.ts';

/** Exclusive lock on a file, until `release` is called or the process ends. */
export interface FileLock {
  release(): void;
}

export class FileLockedError extends Error {
  override readonly name = 'FileLockedError';
}

/** Locks a file, and creates a missing file. @throws FileLockedError if another process has locked the file */
export function lockFile(path: string): FileLock {
  const database = connectSqlite({ path, busyMs: 0 });
  try {
    withPath(path, () => database.exec('BEGIN EXCLUSIVE'));
  } catch (cause) {
    database.close();
    if (!isCode(cause, 'SQLITE_BUSY')) throw cause;
    throw new FileLockedError(`Another process has locked ${path}.`, { cause });
  }
  return { release: () => void database.close() };
}
