import { createWriteStream, statSync, type WriteStream } from 'node:fs';
import { realpath, rename, rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { errorCodeOf } from '../../core/files/sqlite.ts';
import { CommandError, type ExitCode, exitCodes, UsageError } from '../command.ts';
import { findByCode } from './explain.ts';
import { createOutput, type Output } from './output.ts';

const faults: Readonly<Record<string, readonly [exit: 'usage' | 'upstream', reason: string]>> = {
  ENOENT: ['usage', 'the folder that it would be in is missing'],
  ENOTDIR: ['usage', 'its path leads through a file'],
  EISDIR: ['usage', 'it is a folder'],
  ENAMETOOLONG: ['usage', 'its name is too long'],
  'EACCES EPERM EROFS': ['upstream', 'there is no permission to write it'],
  'ENOSPC EDQUOT': ['upstream', 'the disk is full; make room and try again'],
};

/** Runs what writes an output. @throws CommandError where it cannot be written; any other error */
export async function tellOutputFaults(
  output: string,
  write: () => Promise<ExitCode>,
): Promise<ExitCode> {
  try {
    return await write();
  } catch (error) {
    if (errorCodeOf(error) === 'EPIPE') return exitCodes.ok; // a reader that has left, as `head` does, is no fault
    const [exit, reason] = findByCode(faults, error) ?? [];
    if (exit === undefined) throw error;
    throw new CommandError(exit, `${output} cannot be written: ${reason}`, { cause: error });
  }
}

/**
 * Runs what prints with a file in place of standard output; returns its exit code. The file is replaced
 * only if something was printed. Throws UsageError for an empty path.
 */
export async function withOutputFile(
  path: string,
  print: (stdout: Output) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (path === '') throw new UsageError('--output is empty; name a file');
  return tellOutputFaults(path, async () => {
    let code: ExitCode = exitCodes.ok;
    await writeOutputFile(path, async (file) => {
      code = await print(createOutput(file));
      return file.writableLength + file.bytesWritten > 0;
    });
    return code;
  });
}

/** Writes to a stream; returns false to leave an existing file as it was. */
type Write = (stream: WriteStream) => Promise<boolean>;

/**
 * Writes a file that is there as a whole or not at all. A link stays one, and what is no file, such as a
 * pipe or a device, is written to and never replaced.
 */
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
  written.catch(() => undefined); // awaited below, also where it fails before
  try {
    const isWanted = await write(file);
    file.end();
    await written;
    return isWanted;
  } finally {
    file.destroy();
  }
}
