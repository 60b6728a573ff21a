import { isCode, withPath } from './private-files.ts';
import { connectSqlite } from './sqlite.ts';

/** Exclusive lock on a file, until `release` is called or the process ends. */
export interface FileLock {
  release(): void;
}

export class FileLockedError extends Error {
  override readonly name = 'FileLockedError';
}

/** Locks a file, created if missing, until the process ends. @throws FileLockedError or Error */
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
