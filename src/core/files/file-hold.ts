import { withPath } from './private-files.ts';
import { connectSqlite, errorCodeOf } from './sqlite.ts';

/** A file that this process holds against others, until it is released or the process ends. */
export interface FileHold {
  release(): void;
}

/** Another process holds the file. */
export class FileHeldError extends Error {
  override readonly name = 'FileHeldError';
}

/**
 * Holds a file, which is made where it is not there. The lock is the operating system's: whichever
 * way the process ends, it is gone.
 *
 * @throws FileHeldError where another process holds it; Error where it cannot be made
 */
export function holdFile(path: string): FileHold {
  const database = connectSqlite({ path, busyMs: 0 });
  try {
    withPath(path, () => database.exec('BEGIN EXCLUSIVE'));
  } catch (cause) {
    database.close();
    if (errorCodeOf(cause) !== 'SQLITE_BUSY') throw cause;
    throw new FileHeldError(`Another process holds ${path}.`, { cause });
  }
  return { release: () => void database.close() };
}
