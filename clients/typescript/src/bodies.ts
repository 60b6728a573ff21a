import { ConnectionError, ResponseError } from './errors.ts';

/** Maximum size of a JSON response, and of a line of a stream, in bytes. */
const maxBytes = 64 * 1024 * 1024;

/**
 * Yields the parts of a response body as they arrive. Calls `onPart` before it yields each part.
 * @throws ConnectionError if the body ends early
 */
export async function* readParts(response: Response, onPart: () => void) {
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw new ConnectionError('connection_lost', 'The connection was lost.', cause);
      });
      if (done) return;
      onPart();
      yield value;
    }
  } finally {
    // Closes the connection. If it is already lost, `cancel` rejects; that error was reported above.
    await reader.cancel().catch(() => undefined);
  }
}

/**
 * Reads a whole response body as text.
 * @throws ConnectionError if the connection is lost; ResponseError if the body is too large
 */
export async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const part of readParts(response, () => undefined)) {
    size += part.length;
    if (size > maxBytes) throw tooLarge(response.status);
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Joins the parts of a body, and splits the text into trimmed lines. Omits empty lines, and text after the last line
 * feed.
 * @throws ResponseError if a line is too long
 */
export async function* splitLines(parts: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let size = 0;
  for await (const part of parts) {
    const [first = '', ...rest] = decoder.decode(part, { stream: true }).split('\n');
    pieces.push(first);
    size += part.length;
    if (size > maxBytes) throw tooLarge(200);
    for (const text of rest) {
      const line = pieces.join('').trim();
      pieces = [text];
      size = text.length;
      if (line !== '') yield line;
    }
  }
}

const tooLarge = (status: number) =>
  new ResponseError('unexpected_response', `The response has more than ${maxBytes} bytes.`, {
    status,
  });

/** Parses JSON. Returns `undefined` for text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns whether a value is an object or an array, so that its members can be read. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
