/** An element of a JSON array, or why it could not be read. Unreadable elements count in `index`, from 0. */
export type JsonElement =
  | { readonly kind: 'value'; readonly value: unknown; readonly index: number }
  | {
      readonly kind: 'fault';
      readonly why: string;
      /** Whether the file ends before the array does, so that an unknown number of elements is missing. */
      readonly isCutOff: boolean;
      readonly index: number;
    };

export const maxElementBytes: number = 8 * 2 ** 20;

/**
 * Reads the elements of a JSON array in a file, in constant memory: each chunk yields the elements that end in it,
 * because a promise for each element takes as long as parsing it. An element that is broken, or larger than
 * `maxElementBytes`, is a fault, and the next one is read. Lone surrogates, NUL and bytes that are not UTF-8 become
 * U+FFFD, so that offsets in code points stay right.
 * @param start Matches the text up to the opening bracket of the array. Everything before it is skipped: a byte order
 * mark, or the `window.YTD… =` of X.
 */
export async function* jsonElements(
  chunks: AsyncIterable<Uint8Array>,
  start: RegExp = /\[/,
): AsyncGenerator<readonly JsonElement[], void, undefined> {
  const seek = createSeeker(start);
  const findBorder = createBorders();
  const open = createOpenElement();
  let from: number | null = null;
  for await (const chunk of chunks) {
    from = from === null ? seek(chunk) : 0;
    if (from === null) continue;
    const { elements, isDone } = readChunk(chunk, from, { findBorder, open });
    if (elements.length > 0) yield elements;
    if (isDone) return;
  }
  const why = from === null ? 'There is no list of records in the file.' : open.tellEnd();
  yield [{ kind: 'fault', why, isCutOff: true, index: open.count() }];
}

/** Maximum bytes between the first byte that `start` matches and the opening bracket. */
const maxStartBytes = 256;

/** Creates a function that returns the index after the opening bracket; `null` if a chunk does not have it. */
function createSeeker(start: RegExp): (chunk: Uint8Array) => number | null {
  let rest = '';
  return (chunk) => {
    const text = `${rest}${Buffer.from(chunk).toString('latin1')}`;
    const match = start.exec(text);
    if (match !== null) return match.index + match[0].length - rest.length;
    rest = text.slice(-maxStartBytes);
    return null;
  };
}

interface ArrayState {
  readonly findBorder: (byte: number) => Border | null;
  readonly open: ReturnType<typeof createOpenElement>;
}

/** Reads the elements that end in a chunk. What follows the array is not read. */
function readChunk(chunk: Uint8Array, from: number, { findBorder, open }: ArrayState) {
  const elements: JsonElement[] = [];
  let begin = from;
  for (let at = from; at < chunk.length; at++) {
    const border = findBorder(chunk[at] ?? 0);
    if (border === null) continue;
    open.add(chunk.subarray(begin, at));
    elements.push(...open.close());
    if (border === 'end') return { elements, isDone: true };
    begin = border === 'astray' ? at : at + 1;
  }
  open.add(chunk.subarray(begin));
  return { elements, isDone: false };
}

/** Creates the element that is being read, which consists of parts of chunks. */
function createOpenElement() {
  let pieces: Uint8Array[] = [];
  let size = 0;
  let count = 0;
  return {
    /** Adds bytes; space before the first one is dropped. */
    add: (bytes: Uint8Array): void => {
      const begin = size > 0 ? 0 : bytes.findIndex((byte) => byte > bytesOf.space);
      if (begin < 0) return;
      size += bytes.length - begin;
      if (size > maxElementBytes) pieces = [];
      else pieces.push(bytes.subarray(begin));
    },
    /** Ends the element, so that the next one can begin. There is none between two commas. */
    close: (): readonly JsonElement[] => {
      const isTooLarge = size > maxElementBytes;
      const element = size === 0 ? [] : [toElement(isTooLarge ? null : pieces, count++)];
      pieces = [];
      size = 0;
      return element;
    },
    count: () => count,
    tellEnd: () =>
      size === 0
        ? 'The file ends before its list does.'
        : 'The file ends in the middle of this record.',
  };
}

/** Bytes of JSON that have a meaning. In UTF-8 no part of another character looks like them. */
const bytesOf = {
  lineFeed: 0x0a,
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/** Has a 1 for each byte that has a meaning outside strings. */
const structural = new Uint8Array(256);
for (const byte of Buffer.from('{}[],:')) structural[byte] = 1;

/** Creates a function that is given every byte and returns whether it has a meaning outside strings. */
function createTokens(): (byte: number) => boolean {
  let isString = false;
  let isEscaped = false;
  const takeInString = (byte: number): void => {
    // No string has a bare line feed: the closing quote is missing.
    const isEnd = byte === bytesOf.quote || byte === bytesOf.lineFeed;
    isString = isEscaped || !isEnd;
    isEscaped = byte === bytesOf.backslash && !isEscaped;
  };
  return (byte) => {
    if (isString) takeInString(byte);
    else if (byte === bytesOf.quote) isString = true;
    else return structural[byte] === 1;
    return false;
  };
}

/**
 * Meaning of a byte for the array: after an element, after the array, or the first one of an element while the closing
 * of the one before it is missing.
 */
type Border = 'element' | 'end' | 'astray';

/** Maximum number of brackets that are open at once. Deeper ones do not count: no program nests thousands. */
const maxDepth = 65_536;

/** Creates a function that is given every byte of an array and returns whether an element ends there. */
function createBorders(): (byte: number) => Border | null {
  const isToken = createTokens();
  const openers: number[] = [];
  let last: number = bytesOf.comma;
  /** Also closes what was opened since and is not closed: that is broken, and ends here. */
  const close = (opener: number): Border | null => {
    const found = openers.lastIndexOf(opener);
    if (found < 0) return opener === bytesOf.openArray ? 'end' : null;
    openers.length = found;
    return null;
  };
  const open = (token: number): Border | null => {
    // Between the members of an object no object begins: this is the next record.
    const isMember = openers.at(-1) === bytesOf.openObject && last === bytesOf.comma;
    const isAstray = isMember && token === bytesOf.openObject;
    if (isAstray) openers.length = 0;
    if (openers.length < maxDepth) openers.push(token);
    return isAstray ? 'astray' : null;
  };
  const take = (token: number): Border | null => {
    if (token === bytesOf.openObject || token === bytesOf.openArray) return open(token);
    if (token === bytesOf.closeObject) return close(bytesOf.openObject);
    if (token === bytesOf.closeArray) return close(bytesOf.openArray);
    return token === bytesOf.comma && openers.length === 0 ? 'element' : null;
  };
  return (byte) => {
    if (!isToken(byte)) return null;
    const border = take(byte);
    last = byte;
    return border;
  };
}

/** Parses an element, or returns why it cannot be read. `pieces` is `null` if it is too large. */
function toElement(pieces: readonly Uint8Array[] | null, index: number): JsonElement {
  const fault = { kind: 'fault', isCutOff: false, index } as const;
  if (pieces === null) {
    return { ...fault, why: `It is larger than ${maxElementBytes / 2 ** 20} MiB.` };
  }
  const text = Buffer.concat(pieces).toString('utf8');
  // Bare control characters may stand in strings, or between tokens.
  const value =
    tryParse(text) ??
    tryParse(text.replace(controls, '\\ufffd')) ??
    tryParse(text.replace(controls, ' '));
  if (value === undefined) return { ...fault, why: 'It is not valid JSON.' };
  return { kind: 'value', value: hasOddEscape(text) ? cleanStrings(value) : value, index };
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a value that JSON does not have
  }
}

/** Returns whether a text has the escape of a surrogate or of NUL, which few records have. */
function hasOddEscape(text: string): boolean {
  // The plain search spares most records the pattern, which is ten times slower.
  return text.includes('\\u') && /\\u(?:d[89a-f]|0000)/i.test(text);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is sought
const controls = /[\0-\x08\x0b\x0c\x0e-\x1f]/g;

const noText = /[\p{Surrogate}\0]/gu;

function cleanStrings(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(noText, '\ufffd');
  if (Array.isArray(value)) return value.map(cleanStrings);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, cleanStrings(member)]),
  );
}
