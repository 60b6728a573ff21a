import { errorCodeOf } from '../../core/files/sqlite.ts';
import { type CommandContext, type ExitCode, exitCodes } from '../command.ts';

const faults: readonly (readonly [code: RegExp, reason: string, exit: ExitCode])[] = [
  [/^ENOENT$/, 'the folder that it would be in is missing', exitCodes.usage],
  [/^ENOTDIR$/, 'its path leads through a file', exitCodes.usage],
  [/^EISDIR$/, 'it is a folder', exitCodes.usage],
  [/^ENAMETOOLONG$/, 'its name is too long', exitCodes.usage],
  [/^(?:EACCES|EPERM|EROFS)$/, 'there is no permission to write it', exitCodes.upstream],
  [/^(?:ENOSPC|EDQUOT)$/, 'the disk is full; make room and try again', exitCodes.upstream],
];

/**
 * Runs what writes an output; tells on standard error why it cannot be written, and gives the exit code.
 * What is wrong with anything else, such as the archive that is read, is thrown on.
 */
export async function tellOutputFaults(
  output: string,
  { stderr }: CommandContext,
  write: () => Promise<ExitCode>,
): Promise<ExitCode> {
  try {
    return await write();
  } catch (error) {
    const code = errorCodeOf(error) ?? '';
    if (code === 'EPIPE') return exitCodes.ok; // a reader that has left, as `head` does, is no fault
    const [, reason, exit] = faults.find(([pattern]) => pattern.test(code)) ?? [];
    if (reason === undefined || exit === undefined) throw error;
    stderr.write(`perch: ${output} cannot be written: ${reason}\n`);
    return exit;
  }
}
