/** A line of a file. */
export type Line =
  | {
      readonly kind: 'text';
      readonly text: string;
      readonly number: number;
      /** Whether a line feed follows; only after the last line there can be none. */
      readonly isEnded: boolean;
    }
  | { readonly kind: 'too long'; readonly number: number };

/** The most bytes of one line. */
const maxBytes = 8 * 2 ** 20;

const lineFeed = 0x0a;

/**
 * Cuts a file into its lines, in memory that does not grow with it: together come those that end in one
 * chunk. Empty lines are left out.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly Line[], void, undefined> {
  const open = createOpenLine();
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      open.add(chunk.subarray(from, end));
      lines.push(...open.close(true));
      from = end + 1;
    }
    open.add(chunk.subarray(from));
    yield lines;
  }
  yield open.close(false);
}

function createOpenLine() {
  let pieces: Uint8Array[] = [];
  let size = 0;
  let number = 0;
  const add = (bytes: Uint8Array): void => {
    size += bytes.length;
    if (size > maxBytes) pieces = [];
    else pieces.push(bytes);
  };
  const close = (isEnded: boolean): readonly Line[] => {
    number += 1;
    const text = Buffer.concat(pieces)
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .trim();
    const isTooLong = size > maxBytes;
    pieces = [];
    size = 0;
    if (isTooLong) return [{ kind: 'too long', number }];
    return text === '' ? [] : [{ kind: 'text', text, number, isEnded }];
  };
  return { add, close };
}
