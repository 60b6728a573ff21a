/** Copies content to memory of its own, because a slice keeps all of Node's pool in memory. */
export function toOwnBuffer(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const own = Buffer.alloc(bytes.length);
  bytes.copy(own);
  return own;
}
