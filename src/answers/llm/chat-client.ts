import * as z from 'zod';
import { type Clock, createSteadyClock } from '../../lib/clock.ts';
import { parseJson } from '../../lib/http/json-bodies.ts';
import type { PostClient, StreamedReply } from '../../lib/http/post-client.ts';
import type { EngineCallOptions, FallbackCode } from '../answer.ts';

export type ChatMessage = Readonly<{ role: 'system' | 'user' | 'assistant'; content: string }>;

/** Part of an answer. The last part is `end`, with the `reason` `length` if truncated. */
export type ChatPiece =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'end';
      readonly reason: 'stop' | 'length';
      readonly usage: Readonly<Record<string, number>> | undefined;
    };

/** Language model at an OpenAI-compatible endpoint. */
export interface ChatModel {
  /** Base URL of the endpoint without `/chat/completions`, such as `http://localhost:11434/v1`. */
  readonly url: string;
  readonly model: string;
  readonly key: string | undefined;
  /** Timeout in milliseconds for the first chunk of a response, and for each next chunk. */
  readonly stallMs: number;
  readonly totalMs: number;
}

export interface ChatOptions extends ChatModel {
  readonly client: PostClient;
  readonly clock: Clock;
}

/** Limits of a response, including reasoning: characters of a line, and total bytes. */
const limits = { maxLine: 262_144, maxBytes: 8_388_608 } as const;

const maxJsonBytes = 1_048_576;

/**
 * Sends messages to a model and yields the parts of its answer.
 * @throws ModelFailure if there is no complete answer; the signal's reason if `signal` is aborted
 */
export async function* completeChat(
  { client, clock, ...model }: ChatOptions,
  messages: readonly ChatMessage[],
  { signal, span }: Pick<EngineCallOptions, 'signal' | 'span'>,
): AsyncGenerator<ChatPiece> {
  const stop = new AbortController();
  const onData = watchTimeouts({ ...model, clock }, stop);
  try {
    const reply = await client.post(new URL(`${model.url}/chat/completions`), {
      body: { model: model.model, messages, stream: true },
      authorization: model.key === undefined ? undefined : `Bearer ${model.key}`,
      accept: 'text/event-stream, application/json',
      signal: AbortSignal.any([signal, stop.signal]),
      span,
      model: model.model,
    });
    yield* toPieces(readReply(reply, onData));
  } catch (error) {
    signal.throwIfAborted();
    stop.signal.throwIfAborted();
    if (error instanceof ModelFailure) throw error;
    throw failed('The language model could not be reached, or the connection broke.');
  } finally {
    stop.abort();
  }
}

/** Aborts `stop` on a timeout. The caller must call the returned function when data arrives. */
function watchTimeouts(
  { stallMs, totalMs, ...options }: Pick<ChatOptions, 'clock' | 'stallMs' | 'totalMs'>,
  stop: AbortController,
): () => void {
  const clock = createSteadyClock(options.clock);
  const deadlineMs = clock.now() + totalMs;
  let stallsAtMs = clock.now() + stallMs;
  const watch = async () => {
    const leftMs = () => Math.min(stallsAtMs, deadlineMs) - clock.now();
    for (let waitMs = leftMs(); waitMs > 0; waitMs = leftMs()) {
      await Promise.allSettled([clock.sleep(waitMs, stop.signal)]);
      if (stop.signal.aborted) return;
    }
    const seconds = Number(((clock.now() < deadlineMs ? stallMs : totalMs) / 1000).toFixed(1));
    const message = `The language model took more than ${seconds} seconds.`;
    stop.abort(new ModelFailure('model_stalled', message));
  };
  void watch();
  return () => {
    stallsAtMs = clock.now() + stallMs;
  };
}

const failedReasons = ['content_filter', 'tool_calls', 'function_call', 'error'];

/** Yields text without reasoning, then `end`. Throws ModelFailure for an incomplete answer. */
async function* toPieces(chunks: AsyncIterable<CompletionChunk>): AsyncGenerator<ChatPiece> {
  const withoutReasoning = createReasoningFilter();
  for await (const { text, finishReason, usage } of chunks) {
    const answer = withoutReasoning(text);
    if (answer !== '') yield { kind: 'text', text: answer };
    if (finishReason === null) continue;
    if (failedReasons.includes(finishReason)) {
      throw failed('The language model finished without an answer.');
    }
    yield { kind: 'end', reason: finishReason === 'length' ? 'length' : 'stop', usage };
    return;
  }
  throw failed('The language model’s answer ended before it was complete.');
}

function failed(message: string, retryAfterSeconds?: number): ModelFailure {
  return new ModelFailure('model_failed', message, retryAfterSeconds);
}

const openingTag = '<think>';
const closingTag = '</think>';

function createReasoningFilter(): (piece: string) => string {
  let buffered = '';
  let isPastReasoning = false;
  return (piece) => {
    if (isPastReasoning) return piece;
    buffered = (buffered + piece).trimStart();
    if (openingTag.startsWith(buffered)) return '';
    const end = buffered.indexOf(closingTag);
    const isReasoning = buffered.startsWith(openingTag);
    isPastReasoning = !isReasoning || end >= 0;
    if (isPastReasoning) return isReasoning ? buffered.slice(end + closingTag.length) : buffered;
    // The reasoning is dropped, except its end: the closing tag may be split over two parts.
    buffered = openingTag + buffered.slice(openingTag.length).slice(-closingTag.length);
    return '';
  };
}

async function* readReply(
  reply: StreamedReply,
  onData: () => void,
): AsyncGenerator<CompletionChunk> {
  const { mediaType, chunks } = reply;
  checkStatus(reply);
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) {
    let json = '';
    for await (const text of readText(chunks, maxJsonBytes)) {
      onData();
      json += text;
    }
    const whole = parseChunk(json);
    yield { ...whole, finishReason: whole.finishReason ?? 'stop' };
    return;
  }
  if (mediaType !== 'text/event-stream') {
    throw failed(
      'The language model’s endpoint sent a response that is neither JSON nor an event stream.',
    );
  }
  for await (const data of readEventStream(chunks, limits)) {
    if (data.trim() === '[DONE]') {
      yield { text: '', finishReason: 'stop', usage: undefined };
      return;
    }
    const chunk = parseChunk(data);
    // Comments only keep the connection open, so they do not reset the stall timer.
    onData();
    yield chunk;
  }
}

function checkStatus({ status, retryAfterSeconds }: StreamedReply): void {
  if (status >= 200 && status < 300) return;
  const redirects = status >= 300 && status < 400 ? ', a redirect, which is not followed' : '';
  throw failed(`The language model’s endpoint answered ${status}${redirects}.`, retryAfterSeconds);
}

const textPart = z.looseObject({ type: z.string(), text: z.string().optional() });

const content = z
  .union([z.string(), z.array(textPart)])
  .nullish()
  .transform((value) => {
    if (!Array.isArray(value)) return value ?? '';
    return value.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('');
  });

const count = z.int().min(0).nullish();

const choice = z.object({
  delta: z.object({ content }).nullish(),
  message: z.object({ content }).nullish(),
  finish_reason: z.string().nullish(),
});

const chatPayload = z.object({
  error: z.unknown().optional(),
  choices: z.array(choice).nullish(),
  usage: z.object({ prompt_tokens: count, completion_tokens: count }).nullish(),
});

type CompletionChunk = ReturnType<typeof parseChunk>;

function parseChunk(json: string) {
  const parsed = chatPayload.safeParse(parseJson(json));
  if (!parsed.success) throw failed('The language model’s endpoint sent an invalid completion.');
  const { error, choices, usage } = parsed.data;
  if (error !== undefined && error !== null) {
    throw failed('The language model’s endpoint reported an error.');
  }
  const [first] = choices ?? [];
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = usage ?? {};
  const isCounted = typeof inputTokens === 'number' && typeof outputTokens === 'number';
  return {
    text: (first?.delta ?? first?.message)?.content ?? '',
    finishReason: first?.finish_reason ?? null,
    usage: isCounted ? { inputTokens, outputTokens } : undefined,
  };
}

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

async function* readText(chunks: Bytes, maxBytes: number) {
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

/** Failure of a model. Never quotes the response, which might contain the API key. */
export class ModelFailure extends Error {
  readonly code: FallbackCode;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: FallbackCode, message: string, retryAfterSeconds?: number) {
    super(message);
    this.name = 'ModelFailure';
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
