import { CorpusError } from '../../answers/corpus/corpus.ts';
import type { Config } from '../../config/config.ts';
import { FileHeldError } from '../../core/files/file-hold.ts';
import { errorCodeOf, UnusableFileError } from '../../core/files/sqlite.ts';
import { UnusableSecretError } from '../../core/secret.ts';

/** Returns sentences that say why the server or one of its files could not be opened, and what to do. */
export function explainOpening(error: unknown, config: Config): string {
  const code = errorCodeOf(error) ?? '';
  if (isOfListening(error)) return explainListening(code, config);
  if (isExplained(error)) return error.message;
  if (error instanceof CorpusError) return explainCorpus(error);
  const file = pathOf(error) ?? config.PERCH_DATA_DIR;
  const known = fileFaults.find(([pattern]) => pattern.test(code))?.[1];
  if (known !== undefined) return known(file, config);
  return `Perch cannot start: ${error instanceof Error ? error.message : String(error)}`;
}

/** Returns whether the message of an error is a sentence for the operator. */
function isExplained(error: unknown): error is Error {
  return [FileHeldError, UnusableSecretError, UnusableFileError].some(
    (kind) => error instanceof kind,
  );
}

function explainCorpus({ message }: CorpusError): string {
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}. Correct PERCH_CORPUS.`;
}

/** Returns whether an error comes from listening, or from looking up the address to listen on. */
function isOfListening(error: unknown): boolean {
  if (!(error instanceof Error) || !('syscall' in error)) return false;
  return error.syscall === 'listen' || error.syscall === 'getaddrinfo';
}

function explainListening(code: string, { HOST, PORT }: Config): string {
  if (code === 'EADDRINUSE') return `Port ${PORT} is already in use. Set PORT to another one.`;
  if (code === 'EACCES') {
    return `You have no permission to listen on port ${PORT}. Set PORT to 1024 or a higher one.`;
  }
  return `HOST is ${JSON.stringify(HOST)}, which is not an address of this machine. Set it to 127.0.0.1 for this machine alone, or to 0.0.0.0 for all networks.`;
}

/** Node and `withPath` add the path of the file to an error. */
function pathOf(error: unknown): string | undefined {
  const path = error instanceof Error && 'path' in error ? error.path : undefined;
  return typeof path === 'string' ? path : undefined;
}

type Explain = (file: string, config: Config) => string;

const fileFaults: readonly (readonly [code: RegExp, explain: Explain])[] = [
  [
    /^(?:ENOTDIR|EEXIST)$/,
    (file, { PERCH_DATA_DIR }) =>
      `PERCH_DATA_DIR is ${PERCH_DATA_DIR}, but ${file} is not a folder. Set PERCH_DATA_DIR to a folder.`,
  ],
  [
    /^ENOENT$/,
    (file) => `The folder ${file} cannot be created. Set PERCH_DATA_DIR to another one.`,
  ],
  [
    /^(?:SQLITE_FULL|ENOSPC|EDQUOT)/,
    (file) => `The disk is full, so ${file} cannot be written. Make room, and start again.`,
  ],
  [
    /^SQLITE_BUSY/,
    (file) => `The file ${file} is locked by another process. Stop that process, and start again.`,
  ],
  [
    /^(?:SQLITE_(?:READONLY|PERM|AUTH)|EACCES|EPERM|EROFS)/,
    (file) =>
      `The user that runs Perch has no permission for ${file}. Change its owner, or set PERCH_DATA_DIR to another folder.`,
  ],
  [
    /^(?:SQLITE_(?:CANTOPEN|IOERR)|EISDIR|EIO|ELOOP)/,
    (file) =>
      `The file ${file} cannot be opened. Check that it is a file, and that the user that runs Perch may write it and its folder.`,
  ],
  [
    /^SQLITE_/,
    (file) =>
      `The file ${file} is damaged, or was not written by Perch. Put a copy back, or move it away.`,
  ],
];
