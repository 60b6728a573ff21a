import { isCode, withPath } from './private-files.ts';
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

/** Locks a file, created if missing. Throws FileLockedError if any process has locked it. */
export function lockFile(path: string, kind: keyof typeof statements = 'exclusive'): FileLock {
  const database = connectSqlite({ path, busyMs: 0 });
  try {
    withPath(path, () => database.exec(statements[kind]));
  } catch (cause) {
    database.close();
    if (!isCode(cause, 'SQLITE_BUSY')) throw cause;
    throw new FileLockedError(`Another process has locked ${path}.`, { cause });
  }
  return { release: () => void database.close() };
}
