import { isCode, withPath } from './private-files.ts';
import { connectSqlite } from './sqlite.ts';

/** A file that this process holds against others, until it is released or the process ends. */
export interface FileHold {
  release(): void;
}

/** Another process holds the file. */
export class FileHeldError extends Error {
  override readonly name = 'FileHeldError';
}

/**
 * Locks a file, which is created if it is missing. The operating system releases the lock when the process ends.
 *
 * @throws FileHeldError if another process holds it; Error if it cannot be created
 */
export function holdFile(path: string): FileHold {
  const database = connectSqlite({ path, busyMs: 0 });
  try {
    withPath(path, () => database.exec('BEGIN EXCLUSIVE'));
  } catch (cause) {
    database.close();
    if (!isCode(cause, 'SQLITE_BUSY')) throw cause;
    throw new FileHeldError(`Another process holds ${path}.`, { cause });
  }
  return { release: () => void database.close() };
}
