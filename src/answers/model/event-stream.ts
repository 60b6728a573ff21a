import { ModelFailure } from './model-failure.ts';

type Bytes = AsyncIterable<Uint8Array>;

/** Maximum characters of a line, and of the data of an event; and maximum bytes of the whole stream. */
type EventStreamLimits = Readonly<{ maxLine: number; maxBytes: number }>;

/**
 * Yields the data of each event of an event stream (WHATWG HTML, server-sent events); the last one needs no blank line.
 * @throws ModelFailure `model_failed` if it is larger than allowed
 */
export async function* readEventStream(chunks: Bytes, limits: EventStreamLimits) {
  let data: string | undefined;
  for await (const line of readLines(chunks, limits)) {
    if (line === '' && data !== undefined) yield data;
    data = line === '' ? undefined : joinData(data, line);
    if ((data?.length ?? 0) > limits.maxLine) throw tooLarge();
  }
  if (data !== undefined) yield data;
}

/** Adds the value of a `data` field; one space after the colon is not part of it. */
function joinData(before: string | undefined, line: string): string | undefined {
  const [field, value = ''] = /^data(?:: ?(.*))?$/s.exec(line) ?? [];
  if (field === undefined) return before;
  return before === undefined ? value : `${before}\n${value}`;
}

async function* readLines(chunks: Bytes, limits: EventStreamLimits) {
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

/** Decodes the bytes of a reply, wherever a character is parted. @throws ModelFailure `model_failed` beyond `maxBytes` */
export async function* readText(chunks: Bytes, maxBytes: number) {
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
