import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** A file that is read at any place. Close it with `close()`. */
export type FileWindow = ReturnType<typeof openFileWindow>;

/** What is read at once: neighbours in the file are mostly asked for one after the other. */
const windowBytes = 32 * 1024;

/**
 * Opens a file to be read at any place. Reads are synchronous: one through the thread pool takes longer than the
 * reading itself, and there are two for each post. @throws Error of the file system
 */
export function openFileWindow(path: string) {
  const file = openSync(path, 'r');
  const { size } = fstatSync(file);
  const window = new Uint8Array(windowBytes);
  let from = 0;
  let held = 0;
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
    /** Returns a copy of the bytes at a place, fewer if the file ends before. */
    read: (offset: number, length: number): Uint8Array => {
      if (length > windowBytes) {
        const own = new Uint8Array(length);
        return own.subarray(0, fill(own, offset));
      }
      if (offset < from || offset + length > from + held) {
        from = offset;
        held = fill(window, offset);
      }
      return Buffer.from(window.subarray(offset - from, Math.min(offset - from + length, held)));
    },
    close: () => closeSync(file),
  };
}
