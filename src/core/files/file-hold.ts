import { isCode, withPath } from './private-files.ts';
import { connectSqlite } from './sqlite.ts';

/** Exclusive lock on a file, until `release` is called or the process ends. */
export interface FileHold {
  release(): void;
}

/** Error for a file that another process has locked. */
export class FileHeldError extends Error {
  override readonly name = 'FileHeldError';
}

/**
 * Locks a file, and creates it if it is missing. The operating system releases the lock when the process ends.
 *
 * @throws FileHeldError if another process has locked the file; Error if it cannot be created
 */
export function holdFile(path: string): FileHold {
  const database = connectSqlite({ path, busyMs: 0 });
  try {
    withPath(path, () => database.exec('BEGIN EXCLUSIVE'));
  } catch (cause) {
    database.close();
    if (!isCode(cause, 'SQLITE_BUSY')) throw cause;
    throw new FileHeldError(`Another process has locked ${path}.`, { cause });
  }
  return { release: () => void database.close() };
}
