import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { errorCodeOf, UnusableFileError } from '../core/sqlite.ts';

/** Why the file of the keys cannot be used. */
export type KeyFileFault =
  | 'missing'
  | 'empty'
  | 'not_a_file'
  | 'locked'
  | 'damaged'
  | 'unreadable'
  | 'closed';

/** One failure to use the file. */
export interface KeyFileTrouble {
  readonly fault: KeyFileFault;
  /** What was thrown, where something was. */
  readonly error?: unknown;
}

/** What tells one state of a file from another without reading it. */
export type FileFacts = Pick<Stats, 'dev' | 'ino' | 'size' | 'ctimeMs'>;

/** What lies at a path: a file that may hold keys, or a trouble. */
export type Look = { readonly facts: FileFacts } | { readonly trouble: KeyFileTrouble };

/** Looks at what lies at a path, without opening it. */
export function lookAt(path: string): Look {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return { trouble: { fault: 'missing' } };
    if (!stats.isFile()) return { trouble: { fault: 'not_a_file' } };
    // Zero bytes are a database without tables to SQLite. Here they are keys that went missing.
    if (stats.size === 0) return { trouble: { fault: 'empty' } };
    return { facts: stats };
  } catch (error) {
    return { trouble: toTrouble(error) };
  }
}

/** Whether two looks saw the same file. */
export function isSameFile(a: FileFacts, b: FileFacts): boolean {
  return a.ino === b.ino && a.dev === b.dev;
}

/** Whether two looks saw the same file in the same state, as far as looks can tell. */
export function isUnchanged(a: FileFacts, b: FileFacts): boolean {
  return isSameFile(a, b) && a.ctimeMs === b.ctimeMs && a.size === b.size;
}

const magic = 'SQLite format 3\0';

/**
 * Refuses a file that does not begin like a database of SQLite. Only called while this process has
 * no connection to it: closing any descriptor of a file gives up all POSIX locks that the process
 * holds on it.
 *
 * @throws UnusableFileError, or what the file system throws
 */
export function checkHeader(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    const header = Buffer.alloc(magic.length);
    readSync(descriptor, header, 0, header.length, 0);
    if (header.toString('latin1') !== magic) {
      throw new UnusableFileError(`${path} is no database of SQLite.`);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** What SQLite answers about the content; it stays the same until the file changes. */
const damage = /^SQLITE_(?:CORRUPT|NOTADB|ERROR|SCHEMA|MISMATCH|FORMAT)/;

/**
 * Gives the trouble that an error means.
 *
 * @throws the error itself where it is neither of SQLite nor of the file system: it is a defect.
 */
export function toTrouble(error: unknown): KeyFileTrouble {
  if (error instanceof UnusableFileError) return { fault: 'damaged', error };
  const code = errorCodeOf(error);
  if (code === undefined) throw error;
  if (code.startsWith('SQLITE_BUSY')) return { fault: 'locked', error };
  return { fault: damage.test(code) ? 'damaged' : 'unreadable', error };
}
