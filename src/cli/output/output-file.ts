import { createWriteStream, statSync, type WriteStream } from 'node:fs';
import { realpath, rename, rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { type CommandContext, type ExitCode, exitCodes, UsageError } from '../command.ts';
import { createOutput } from './output.ts';
import { tellOutputFaults } from './output-fault.ts';

/**
 * Runs what prints with a file in place of standard output; returns its exit code. The file is replaced
 * only if something was printed.
 *
 * @throws UsageError for a path that is empty
 */
export async function withOutputFile(
  path: string,
  context: CommandContext,
  print: (context: CommandContext) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (path === '') throw new UsageError('--output is empty; name a file');
  return tellOutputFaults(path, context, async () => {
    let code: ExitCode = exitCodes.ok;
    await writeOutputFile(path, async (file) => {
      code = await print({ ...context, stdout: createOutput(file) });
      return file.writableLength + file.bytesWritten > 0;
    });
    return code;
  });
}

/**
 * Writes a file that is there as a whole or not at all. A link stays one, and what is no file, such as a
 * pipe or a device, is written to and never replaced.
 *
 * @param write Writes to the stream; false leaves an existing file as it was.
 */
export async function writeOutputFile(
  path: string,
  write: (stream: WriteStream) => Promise<boolean>,
): Promise<void> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === false) {
    await writeInto(path, write);
    return;
  }
  const target = found === undefined ? path : await realpath(path);
  const unfinished = `${target}.part`;
  try {
    if (await writeInto(unfinished, write)) await rename(unfinished, target);
    else await rm(unfinished, { force: true });
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function writeInto(
  path: string,
  write: (stream: WriteStream) => Promise<boolean>,
): Promise<boolean> {
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
