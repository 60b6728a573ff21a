import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { isCode } from './private-files.ts';

/** Error for an unusable text file. `reason` completes a sentence, such as “does not exist”. */
export class UnusableTextError extends Error {
  readonly reason: string;

  constructor(reason: string, options?: ErrorOptions) {
    super(`The file ${reason}.`, options);
    this.reason = reason;
  }
}

/** Reads UTF-8 without its BOM. Refuses pipes, which could block. Throws UnusableTextError. */
export function readBoundedText(path: string, maxBytes: number): string {
  try {
    refuseOtherThanFile(statSync(path)); // opening some devices has effects
    const bytes = readBytes(path, maxBytes);
    if (bytes.length > maxBytes) throw new UnusableTextError(`is larger than ${maxBytes} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof UnusableTextError) throw error;
    throw new UnusableTextError(describeError(error), { cause: error });
  }
}

function readBytes(path: string, maxBytes: number): Buffer {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    refuseOtherThanFile(fstatSync(descriptor));
    const bytes = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (;;) {
      const count = readSync(descriptor, bytes, length, bytes.length - length, null);
      length += count;
      if (count === 0 || length === bytes.length) return bytes.subarray(0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}

function refuseOtherThanFile(stats: Stats): void {
  if (stats.isDirectory()) throw new UnusableTextError('is a folder');
  if (stats.isFIFO()) throw new UnusableTextError('is a named pipe');
  if (!stats.isFile()) throw new UnusableTextError('is not a regular file');
}

function describeError(error: unknown): string {
  if (isCode(error, 'ENOENT', 'ENOTDIR')) return 'does not exist';
  if (isCode(error, 'EACCES', 'EPERM')) return 'cannot be read by the user that runs Perch';
  if (isCode(error, 'ELOOP')) return 'is a loop of symbolic links';
  if (isCode(error, 'ENAMETOOLONG')) return 'has a name that is too long';
  if (isCode(error, 'ERR_ENCODING_INVALID_ENCODED_DATA')) return 'is not text in UTF-8';
  return `cannot be read (${error instanceof Error ? error.message : error})`;
}
