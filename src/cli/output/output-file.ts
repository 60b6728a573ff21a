import { createWriteStream, statSync, type WriteStream } from 'node:fs';
import { realpath, rename, rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { errorCodeOf } from '../../lib/files/sqlite.ts';
import { CommandError, type ExitCode, exitCodes, UsageError } from '../command.ts';
import { findByCode } from './explain.ts';
import { createOutput, type Output } from './output.ts';

const faults: Readonly<Record<string, readonly [exit: 'usage' | 'upstream', reason: string]>> = {
  ENOENT: ['usage', 'Its folder does not exist.'],
  ENOTDIR: ['usage', 'A part of its path is a file.'],
  EISDIR: ['usage', 'It is a folder.'],
  ENAMETOOLONG: ['usage', 'Its name is too long.'],
  'EACCES EPERM EROFS': ['upstream', 'You have no permission to write to it.'],
  'ENOSPC EDQUOT SQLITE_FULL': ['upstream', 'The disk is full. Free some space and try again.'],
};

/** Returns nothing if the reader closed the pipe. @throws CommandError for other failed writes */
export async function explainWriteErrors<Result>(output: string, write: () => Promise<Result>) {
  try {
    return await write();
  } catch (error) {
    if (errorCodeOf(error) === 'EPIPE') return undefined; // the reader, such as `head`, has enough
    const [exit, reason] = findByCode(faults, error) ?? [];
    if (exit === undefined) throw error;
    throw new CommandError(exit, `${output} cannot be written. ${reason}`, { cause: error });
  }
}

/**
 * Prints to a file instead of standard output. Replaces an existing file only if something was
 * written.
 * @throws UsageError for an empty path
 */
export async function withOutputFile(
  path: string,
  print: (stdout: Output) => Promise<ExitCode>,
): Promise<ExitCode | undefined> {
  if (path === '') throw new UsageError('--output is empty. Set it to a file.');
  return explainWriteErrors(path, async () => {
    let code: ExitCode = exitCodes.ok;
    await writeOutputFile(path, async (file) => {
      code = await print(createOutput(file));
      return file.writableLength + file.bytesWritten > 0;
    });
    return code;
  });
}

type Write = (stream: WriteStream) => Promise<boolean>;

/** Writes a file atomically. Follows symbolic links. Writes directly to pipes and devices. */
export async function writeOutputFile(path: string, write: Write): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === false) {
    await writeInto(path, write);
    return;
  }
  const target = found === undefined ? path : await realpath(path);
  const unfinished = `${target}.part`;
  try {
    if (await writeInto(unfinished, write)) await rename(unfinished, target);
  } finally {
    await rm(unfinished, { force: true });
  }
}

async function writeInto(path: string, write: Write): Promise<boolean> {
  const file = createWriteStream(path);
  const written = finished(file);
  written.catch(() => undefined); // awaited below; this avoids an unhandled rejection before that
  try {
    const isWanted = await write(file);
    file.end();
    await written;
    return isWanted;
  } finally {
    file.destroy();
  }
}
