import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { PostClient, StreamedReply } from '../../core/http/post-client.ts';
import { readEventStream, readText } from './event-stream.ts';
import { ModelFailure } from './model-failure.ts';

/** A message of a conversation. */
export type ChatMessage = Readonly<{ role: 'system' | 'user' | 'assistant'; content: string }>;

/** A piece of a completion; the last one is `end`, whose reason is `length` if the endpoint cut the answer. */
export type ChatPiece =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'end';
      readonly reason: 'stop' | 'length';
      readonly usage: Readonly<Record<string, number>> | undefined;
    };

/** A language model at an OpenAI-compatible endpoint. */
export interface ChatModel {
  /** The base of the endpoint, such as `http://localhost:11434/v1`; `/chat/completions` is appended. */
  readonly url: string;
  readonly model: string;
  readonly key: string | undefined;
  /** Maximum milliseconds until the first words, and between two pieces of them. */
  readonly stallMs: number;
  readonly totalMs: number;
}

interface ChatOptions extends ChatModel {
  readonly client: PostClient;
  readonly clock: Clock;
}

/** Far above what an answer needs: a stream has the thoughts of a model too. */
const limits = { maxLine: 262_144, maxBytes: 8_388_608 } as const;

const maxJsonBytes = 1_048_576;

/**
 * Requests the completion of a conversation. A caller that stops reading ends the exchange and its connection.
 * @throws ModelFailure `model_failed`, `model_stalled`; the signal's reason
 */
export async function* completeChat(
  { client, clock, ...model }: ChatOptions,
  messages: readonly ChatMessage[],
  signal: AbortSignal,
): AsyncGenerator<ChatPiece> {
  const stop = new AbortController();
  const touch = watchStalls({ ...model, clock }, stop);
  try {
    const reply = await client.post(new URL(`${model.url}/chat/completions`), {
      body: { model: model.model, messages, stream: true },
      authorization: model.key === undefined ? undefined : `Bearer ${model.key}`,
      accept: 'text/event-stream, application/json',
      signal: AbortSignal.any([signal, stop.signal]),
    });
    yield* toPieces(readReply(reply, touch));
  } catch (error) {
    signal.throwIfAborted();
    stop.signal.throwIfAborted();
    if (error instanceof ModelFailure) throw error;
    throw failed('The language model could not be reached, or broke off.');
  } finally {
    stop.abort();
  }
}

/** Aborts `stop` with a ModelFailure if the model takes too long. Call the returned function when something arrives. */
function watchStalls(
  { clock, stallMs, totalMs }: Pick<ChatOptions, 'clock' | 'stallMs' | 'totalMs'>,
  stop: AbortController,
): () => void {
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

/** Endings without an answer; every other one but `length` is a good end. */
const badEndings = ['content_filter', 'tool_calls', 'function_call', 'error'];

/** Passes on the text without thoughts, up to the end that the model reports. */
async function* toPieces(news: AsyncIterable<ChatNews>): AsyncGenerator<ChatPiece> {
  const withoutThoughts = createThoughtFilter();
  for await (const { text, finishReason, usage } of news) {
    const said = withoutThoughts(text);
    if (said !== '') yield { kind: 'text', text: said };
    if (finishReason === null) continue;
    if (badEndings.includes(finishReason)) {
      throw failed('The language model ended without an answer.');
    }
    yield { kind: 'end', reason: finishReason === 'length' ? 'length' : 'stop', usage };
    return;
  }
  throw failed('The language model’s answer ended too early.');
}

function failed(message: string, retryAfterSeconds?: number): ModelFailure {
  return new ModelFailure('model_failed', message, retryAfterSeconds);
}

const openingTag = '<think>';
const closingTag = '</think>';

/** Creates a filter of text in pieces: it leaves out what is between `<think>` and `</think>` at the start. */
function createThoughtFilter(): (piece: string) => string {
  let held = '';
  let isSaying = false;
  return (piece) => {
    if (isSaying) return piece;
    held = (held + piece).trimStart();
    if (openingTag.startsWith(held)) return '';
    const end = held.indexOf(closingTag);
    const isThinking = held.startsWith(openingTag);
    isSaying = !isThinking || end >= 0;
    if (isSaying) return isThinking ? held.slice(end + closingTag.length) : held;
    // Thoughts are not needed any more; the closing tag may be in two pieces.
    held = openingTag + held.slice(openingTag.length).slice(-closingTag.length);
    return '';
  };
}

async function* readReply(reply: StreamedReply, touch: () => void): AsyncGenerator<ChatNews> {
  const { mediaType, chunks } = reply;
  refuseStatus(reply);
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) {
    let json = '';
    for await (const text of readText(chunks, maxJsonBytes)) {
      touch();
      json += text;
    }
    const whole = toNews(json);
    yield { ...whole, finishReason: whole.finishReason ?? 'stop' };
    return;
  }
  if (mediaType !== 'text/event-stream') {
    throw failed('The language model’s endpoint answered no stream.');
  }
  for await (const data of readEventStream(chunks, limits)) {
    if (data.trim() === '[DONE]') {
      yield { text: '', finishReason: 'stop', usage: undefined };
      return;
    }
    const news = toNews(data);
    // Comments only keep a connection open, so they do not count.
    touch();
    yield news;
  }
}

function refuseStatus({ status, retryAfterSeconds }: StreamedReply): void {
  if (status >= 200 && status < 300) return;
  const redirects = status >= 300 && status < 400 ? ', a redirect, which is not followed' : '';
  throw failed(`The language model’s endpoint answered ${status}${redirects}.`, retryAfterSeconds);
}

const textPart = z.looseObject({ type: z.string(), text: z.string().optional() });

/** Text, which some endpoints send in parts, and thoughts among them. */
const content = z
  .union([z.string(), z.array(textPart)])
  .nullish()
  .transform((said) => {
    if (!Array.isArray(said)) return said ?? '';
    return said.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('');
  });

const count = z.int().min(0).nullish();

const choice = z.object({
  delta: z.object({ content }).nullish(),
  message: z.object({ content }).nullish(),
  finish_reason: z.string().nullish(),
});

/** A chunk of a stream, or a whole completion. */
const chatPayload = z.object({
  error: z.unknown().optional(),
  choices: z.array(choice).nullish(),
  usage: z.object({ prompt_tokens: count, completion_tokens: count }).nullish(),
});

/** `finishReason` is in the words of the endpoint, `null` while the model has not ended. */
type ChatNews = ReturnType<typeof toNews>;

function toNews(json: string) {
  const parsed = chatPayload.safeParse(parseJson(json));
  if (!parsed.success) throw failed('The language model’s endpoint sent no completion.');
  const { error, choices, usage } = parsed.data;
  if (error !== undefined && error !== null) {
    throw failed('The language model’s endpoint told of an error.');
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the schema refuses it
  }
}
