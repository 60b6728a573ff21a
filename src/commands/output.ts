import type { Writable } from 'node:stream';
import { exitCodes } from './command.ts';

/**
 * Bears outputs that cannot be written. A reader that has left (`perch read … | head`) is no fault;
 * anything else, such as a full disk, ends the process with 70.
 */
export function bearBrokenOutput(outputs: readonly Writable[], exit: (code: number) => void): void {
  for (const output of outputs) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') exit(exitCodes.defect);
    });
  }
}
