/**
 * Copies text or bytes to a buffer with memory of its own. Use it for small bodies that stay in memory: `Buffer.from`
 * returns parts of a pool of 8 KiB, and zlib parts of a buffer of 16 KiB, which stay in memory as a whole.
 */
export function toOwnBuffer(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const own = Buffer.alloc(bytes.length);
  bytes.copy(own);
  return own;
}
