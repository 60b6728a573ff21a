import { existsSync } from 'node:fs';
import { lockName } from './data-folder.ts';
import { type FileLock, FileLockedError, lockFile } from './file-lock.ts';
import { isCode, makePrivateFile } from './private-files.ts';

const noLock: FileLock = { release: () => {} };

/** Locks a data folder against restores, if possible. Throws FileLockedError during a restore. */
export function shareDataFolder(folder: string): FileLock {
  if (!existsSync(folder)) return noLock;
  try {
    return lockDataFolder(folder, 'shared');
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
export function seizeDataFolder(folder: string): FileLock {
  try {
    return lockDataFolder(folder, 'exclusive');
  } catch (error) {
    if (!(error instanceof FileLockedError)) throw error;
    throw new FileLockedError(
      `Another process uses the data directory ${folder}, such as a server, \`perch mcp\` or \`perch archive import\`. Stop it, then try again.`,
      { cause: error },
    );
  }
}

function lockDataFolder(folder: string, kind: 'shared' | 'exclusive'): FileLock {
  const path = `${folder}/${lockName}`;
  makePrivateFile(path);
  return lockFile(path, kind);
}
