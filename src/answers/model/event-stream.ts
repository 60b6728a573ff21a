import { ModelFailure } from './model-failure.ts';

/** How much is taken. */
export interface EventStreamLimits {
  /** The most characters of a line, and of the data of an event. */
  readonly maxLine: number;
  /** The most bytes of the whole stream. */
  readonly maxBytes: number;
}

/**
 * Gives the data of each event of an event stream (WHATWG HTML, server-sent events): lines end in CR,
 * LF or both, wherever the chunks part; comments and other fields are skipped. An event at the end
 * that no blank line ends is given as well.
 *
 * @throws ModelFailure `model_failed` where it is larger than allowed
 */
export async function* readEventStream(
  chunks: AsyncIterable<Uint8Array>,
  limits: EventStreamLimits,
): AsyncGenerator<string> {
  let data: string | undefined;
  for await (const line of readLines(chunks, limits)) {
    if (line === '' && data !== undefined) yield data;
    data = line === '' ? undefined : joinData(data, toData(line));
    if ((data?.length ?? 0) > limits.maxLine) throw tooLarge();
  }
  if (data !== undefined) yield data;
}

function joinData(before: string | undefined, more: string | undefined): string | undefined {
  return before === undefined || more === undefined ? (before ?? more) : `${before}\n${more}`;
}

/** Gives the value of a `data` field; one space after the colon belongs to neither. */
function toData(line: string): string | undefined {
  if (line === 'data') return '';
  if (!line.startsWith('data:')) return undefined;
  return line.slice(line[5] === ' ' ? 6 : 5);
}

async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  limits: EventStreamLimits,
): AsyncGenerator<string> {
  let held = '';
  for await (const text of readText(chunks, limits.maxBytes)) {
    const lines = (held + text).split(/\r\n|\n|\r(?!$)/);
    held = lines.pop() ?? '';
    if (held.length > limits.maxLine || lines.some(({ length }) => length > limits.maxLine)) {
      throw tooLarge();
    }
    yield* lines;
  }
  if (held !== '') yield held.replace(/\r$/, '');
}

/**
 * Gives the bytes of a reply as text, wherever a character is parted.
 *
 * @throws ModelFailure `model_failed` beyond `maxBytes`
 */
export async function* readText(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}

function tooLarge(): ModelFailure {
  return new ModelFailure('model_failed', 'The language model’s endpoint sent too much at once.');
}
