import type { Clock } from '../../core/clock.ts';
import type { PostClient, StreamedReply } from '../../core/http/post-client.ts';
import { type ChatMessage, type ChatNews, readChatPayload } from './chat-payload.ts';
import { readEventStream, readText } from './event-stream.ts';
import { ModelFailure } from './model-failure.ts';
import { type ModelTimes, type StallWatch, startStallWatch } from './stall-watch.ts';
import { createThoughtFilter } from './thoughts.ts';

/** A piece of what a model says; the last one is `end`. */
export type ChatPiece =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'end';
      /** `length` where the endpoint has cut the answer. */
      readonly reason: 'stop' | 'length';
      readonly usage: Readonly<Record<string, number>> | undefined;
    };

/** Speaks with one language model. */
export interface ChatClient {
  /** Its name, as the endpoint and the events have it. */
  readonly model: string;
  /**
   * Has the model go on from these messages. Whoever stops reading ends the exchange and its connection.
   *
   * @throws ModelFailure `model_failed`, `model_stalled`; the signal's reason
   */
  complete(messages: readonly ChatMessage[], signal: AbortSignal): AsyncGenerator<ChatPiece>;
}

/** What is spoken with, and how long it may take. */
export interface ChatClientOptions extends ModelTimes {
  /** The base of the endpoint, such as `http://localhost:11434/v1`. */
  readonly url: string;
  readonly model: string;
  readonly key: string | undefined;
  readonly client: PostClient;
  readonly clock: Clock;
}

/** Far above what an answer needs: thoughts come through here too. */
const limits = { maxLine: 262_144, maxBytes: 8_388_608 } as const;

/** The longest body that is not streamed, in bytes. */
const maxJsonBytes = 1_048_576;

/** Creates a client of an OpenAI-compatible chat endpoint, at `{url}/chat/completions`. */
export function createChatClient(options: ChatClientOptions): ChatClient {
  return {
    model: options.model,
    complete: (messages, signal) => complete(messages, signal, options),
  };
}

async function* complete(
  messages: readonly ChatMessage[],
  signal: AbortSignal,
  options: ChatClientOptions,
): AsyncGenerator<ChatPiece> {
  const stop = new AbortController();
  const watch = startStallWatch(options, (failure) => stop.abort(failure));
  try {
    const both = AbortSignal.any([signal, stop.signal]);
    const reply = await options.client.post(new URL(`${options.url}/chat/completions`), {
      body: { model: options.model, messages, stream: true },
      authorization: options.key === undefined ? undefined : `Bearer ${options.key}`,
      accept: 'text/event-stream, application/json',
      signal: both,
    });
    yield* toPieces(readNews(reply, watch));
  } catch (error) {
    signal.throwIfAborted();
    stop.signal.throwIfAborted();
    throw toModelFailure(error);
  } finally {
    watch.end();
    stop.abort();
  }
}

/** Gives what is said, without what is thought, up to the end that the model tells. */
async function* toPieces(news: AsyncIterable<ChatNews>): AsyncGenerator<ChatPiece> {
  const withoutThoughts = createThoughtFilter();
  for await (const { text, finishReason, usage } of news) {
    const said = withoutThoughts(text);
    if (said !== '') yield { kind: 'text', text: said };
    if (finishReason === null) continue;
    yield { kind: 'end', reason: toReason(finishReason), usage };
    return;
  }
  throw new ModelFailure('model_failed', 'The language model’s answer ended too early.');
}

/** Endings that are no answer; every other one but `length` is a good end. */
const badEndings: ReadonlySet<string> = new Set([
  'content_filter',
  'tool_calls',
  'function_call',
  'error',
]);

function toReason(finishReason: string): 'stop' | 'length' {
  if (badEndings.has(finishReason)) {
    throw new ModelFailure('model_failed', 'The language model ended without an answer.');
  }
  return finishReason === 'length' ? 'length' : 'stop';
}

async function* readNews(reply: StreamedReply, watch: StallWatch): AsyncGenerator<ChatNews> {
  refuseStatus(reply);
  if (isJson(reply.mediaType)) {
    const whole = toNews(await readWhole(reply, watch));
    yield { ...whole, finishReason: whole.finishReason ?? 'stop' };
    return;
  }
  if (reply.mediaType !== 'text/event-stream') {
    throw new ModelFailure('model_failed', 'The language model’s endpoint answered no stream.');
  }
  for await (const data of readEventStream(reply.chunks, limits)) {
    if (data.trim() === '[DONE]') {
      yield { isError: false, text: '', finishReason: 'stop', usage: undefined };
      return;
    }
    const news = toNews(data);
    // Comments keep a connection open; they are no words.
    watch.touch();
    yield news;
  }
}

async function readWhole(reply: StreamedReply, watch: StallWatch): Promise<string> {
  let json = '';
  for await (const text of readText(reply.chunks, maxJsonBytes)) {
    watch.touch();
    json += text;
  }
  return json;
}

function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}

function toNews(json: string): ChatNews {
  const news = readChatPayload(json);
  if (news === null) {
    throw new ModelFailure('model_failed', 'The language model’s endpoint sent no completion.');
  }
  if (news.isError) {
    throw new ModelFailure('model_failed', 'The language model’s endpoint told of an error.');
  }
  return news;
}

function refuseStatus({ status, retryAfterSeconds }: StreamedReply): void {
  if (status >= 200 && status < 300) return;
  const redirects = status >= 300 && status < 400 ? ', a redirect, which is not followed' : '';
  throw new ModelFailure(
    'model_failed',
    `The language model’s endpoint answered ${status}${redirects}.`,
    retryAfterSeconds,
  );
}

/** What else can go wrong is the connection. */
function toModelFailure(error: unknown): ModelFailure {
  if (error instanceof ModelFailure) return error;
  return new ModelFailure('model_failed', 'The language model could not be reached, or broke off.');
}
