import { CorpusError } from '../../answers/corpus/corpus.ts';
import type { Config } from '../../config/config.ts';
import { FileLockedError } from '../../lib/files/file-lock.ts';
import { isCode } from '../../lib/files/private-files.ts';
import { errorCodeOf, UnusableFileError } from '../../lib/files/sqlite.ts';
import { UnusableEngineError } from '../../lib/redis/engine-error.ts';
import { UnusableSecretError } from '../../lib/secret.ts';

/** Returns the value for an error's code. Keys list codes or prefixes, such as `EIO SQLITE_`. */
export function findByCode<Value>(table: Readonly<Record<string, Value>>, error: unknown) {
  const code = errorCodeOf(error);
  if (code === undefined) return undefined;
  const isOf = (codes: string) => codes.split(' ').some((start) => code.startsWith(start));
  return Object.entries(table).find(([codes]) => isOf(codes))?.[1];
}

const explained = [FileLockedError, UnusableSecretError, UnusableFileError, UnusableEngineError];

/** Returns a message with advice for an error while listening on a port or opening a file. */
export function explainOpenError(error: unknown, config: Config): string {
  if (isOfListening(error)) return explainListening(error, config);
  const message = error instanceof Error ? error.message : String(error);
  const isOfNativeModule =
    errorCodeOf(error) === 'ERR_DLOPEN_FAILED' ||
    message.includes('Could not locate the bindings file');
  if (isOfNativeModule) return missingModule;
  if (explained.some((kind) => error instanceof kind)) return message;
  if (error instanceof CorpusError) return `${message} Correct PERCH_CORPUS.`;
  const folder = config.PERCH_DATA_DIR;
  const explain = findByCode(fileFaults, error);
  return explain?.(pathOf(error) ?? folder, folder) ?? `The command cannot be run: ${message}`;
}

/** Returns whether an error is certain to repeat until a setting is changed. */
export function isOfSettings(error: unknown): boolean {
  if (isOfListening(error)) return errorCodeOf(error) === 'EACCES';
  return error instanceof CorpusError || isCode(error, 'EEXIST', 'ENOTDIR');
}

function isOfListening(error: unknown): boolean {
  if (!(error instanceof Error) || !('syscall' in error)) return false;
  return error.syscall === 'listen' || error.syscall === 'getaddrinfo';
}

function explainListening(error: unknown, { HOST, PORT }: Config): string {
  const code = errorCodeOf(error);
  if (code === 'EADDRINUSE') return `Port ${PORT} is already in use. Set PORT to another one.`;
  if (code === 'EACCES') {
    return `You have no permission to listen on port ${PORT}. Set PORT to 1024 or higher.`;
  }
  return `HOST is ${JSON.stringify(HOST)}, which is not an address of this machine. Set HOST to 127.0.0.1 to accept connections from this machine only, or to 0.0.0.0 to accept them on all networks.`;
}

const missingModule =
  'The SQLite module better-sqlite3 is not installed for this version of Node.js. npm can have blocked its installation script. Install Perch again with `npm install --global --allow-scripts=better-sqlite3` and the package, or run `npm rebuild better-sqlite3` in the folder of the repository.';

function pathOf(error: unknown): string | undefined {
  const path = error instanceof Error && 'path' in error ? error.path : undefined;
  return typeof path === 'string' ? path : undefined;
}

const fileFaults: Readonly<Record<string, (file: string, folder: string) => string>> = {
  EEXIST: (file, folder) =>
    `PERCH_DATA_DIR is ${folder}, but ${file} is not a folder. Set PERCH_DATA_DIR to a folder.`,
  // The path of the error is a file in the data directory.
  ENOTDIR: (_, folder) =>
    `PERCH_DATA_DIR is ${folder}, but this path, or a part of it, is not a folder. Set PERCH_DATA_DIR to a folder.`,
  ENOENT: (file) => `The folder ${file} cannot be created. Set PERCH_DATA_DIR to another folder.`,
  'SQLITE_FULL ENOSPC EDQUOT': (file) =>
    `The disk is full, so ${file} cannot be written. Free some space and run the command again.`,
  SQLITE_BUSY: (file) =>
    `The file ${file} is locked by another process. Stop that process and run the command again.`,
  'SQLITE_READONLY SQLITE_PERM SQLITE_AUTH EACCES EPERM EROFS': (file) =>
    `The user that runs Perch has no permission to use ${file}. Run perch as the owner of the data directory, change the owner, or set PERCH_DATA_DIR to another folder.`,
  'SQLITE_CANTOPEN SQLITE_IOERR EISDIR EIO ELOOP': (file) =>
    `The file ${file} cannot be opened. Check that it is a file, and that the user that runs Perch may write to it and to its folder.`,
  SQLITE_: (file) =>
    `The file ${file} is damaged, or was not written by Perch. Restore a backup, or move the file away.`,
};
