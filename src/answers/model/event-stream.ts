import { ModelFailure } from './model-failure.ts';

type Bytes = AsyncIterable<Uint8Array>;

type EventStreamLimits = Readonly<{ maxLine: number; maxBytes: number }>;

/** Yields each event's data, also without a final blank line. Throws ModelFailure over a limit. */
export async function* readEventStream(chunks: Bytes, limits: EventStreamLimits) {
  let data: string | undefined;
  for await (const line of readLines(chunks, limits)) {
    if (line === '' && data !== undefined) yield data;
    data = line === '' ? undefined : joinData(data, line);
    if ((data?.length ?? 0) > limits.maxLine) throw tooLarge();
  }
  if (data !== undefined) yield data;
}

function joinData(before: string | undefined, line: string): string | undefined {
  const [field, value = ''] = /^data(?:: ?(.*))?$/s.exec(line) ?? [];
  if (field === undefined) return before;
  return before === undefined ? value : `${before}\n${value}`;
}

async function* readLines(chunks: Bytes, limits: EventStreamLimits) {
  let buffered = '';
  for await (const text of readText(chunks, limits.maxBytes)) {
    const lines = (buffered + text).split(/\r\n|\n|\r(?!$)/);
    buffered = lines.pop() ?? '';
    if (buffered.length > limits.maxLine || lines.some(({ length }) => length > limits.maxLine)) {
      throw tooLarge();
    }
    yield* lines;
  }
  if (buffered !== '') yield buffered.replace(/\r$/, '');
}

/** Decodes UTF-8. Throws ModelFailure `model_failed` for more than `maxBytes` bytes in total. */
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
  return new ModelFailure('model_failed', 'The language model’s endpoint sent too much data.');
}
