/** Bytes that are taken in pieces of other sizes than they come in. */
export interface ByteReader {
  /** Gives exactly so many bytes; null where there are fewer. */
  take(length: number): Promise<Buffer | null>;
  /** Gives the next bytes, at most so many; null at the end. */
  takeSome(most: number): Promise<Uint8Array | null>;
}

/** Creates what takes bytes from chunks. It takes none ahead of what is asked for but the rest of a chunk. */
export function createByteReader(chunks: AsyncIterator<Uint8Array>): ByteReader {
  let rest: Uint8Array = new Uint8Array();
  const takeSome = async (most: number): Promise<Uint8Array | null> => {
    while (rest.length === 0) {
      const next = await chunks.next();
      if (next.done === true) return null;
      rest = next.value;
    }
    const some = rest.subarray(0, most);
    rest = rest.subarray(some.length);
    return some;
  };
  const take = async (length: number): Promise<Buffer | null> => {
    const parts: Uint8Array[] = [];
    for (let left = length; left > 0; ) {
      const some = await takeSome(left);
      if (some === null) return null;
      parts.push(some);
      left -= some.length;
    }
    return Buffer.concat(parts, length);
  };
  return { take, takeSome };
}
