import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Open file with random access. Close it with `close()`. */
export type FileWindow = ReturnType<typeof openFileWindow>;

/** Size in bytes of the read-ahead buffer. Consecutive reads usually request neighboring blocks. */
const windowBytes = 32 * 1024;

/** Opens a file for synchronous reads, which are faster. @throws Error if opening fails */
export function openFileWindow(path: string) {
  const file = openSync(path, 'r');
  const { size } = fstatSync(file);
  const window = new Uint8Array(windowBytes);
  let from = 0;
  let valid = 0;
  const fill = (buffer: Uint8Array, offset: number): number => {
    let filled = 0;
    let count = -1;
    while (filled < buffer.length && count !== 0) {
      count = readSync(file, buffer, filled, buffer.length - filled, offset + filled);
      filled += count;
    }
    return filled;
  };
  return {
    size,
    /** Returns a copy of `length` bytes from byte `offset`; fewer at the end of the file. */
    read: (offset: number, length: number): Uint8Array => {
      if (length > windowBytes) {
        const own = new Uint8Array(length);
        return own.subarray(0, fill(own, offset));
      }
      if (offset < from || offset + length > from + valid) {
        from = offset;
        valid = fill(window, offset);
      }
      return Buffer.from(window.subarray(offset - from, Math.min(offset - from + length, valid)));
    },
    close: () => closeSync(file),
  };
}
