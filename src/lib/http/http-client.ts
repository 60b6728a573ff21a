import type { Dispatcher } from 'undici';
import type { Client } from '../caller.ts';
import type { Clock } from '../clock.ts';
import { Problem } from '../problem.ts';
import type { Random } from '../random.ts';
import { type Deadline, openDeadline } from '../scheduling/deadline.ts';
import type { HeavyTurns } from '../scheduling/fair-queue.ts';
import {
  endWith,
  recordStatus,
  startUpstreamSpan,
  type TraceSpan,
  withoutPropagation,
} from '../tracing/tracing.ts';
import { countJsonDelimiters, maxJsonDelimiters } from './json-bodies.ts';
import { parseUrl } from './url.ts';

export interface HttpClientOptions {
  readonly connectTimeoutMs: number;
  /** Milliseconds for one attempt, from connecting to the last byte of the body. */
  readonly attemptTimeoutMs: number;
  readonly maxBytes: number;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly heavyTurns: HeavyTurns;
}

/** HTTP response of any status. `text` is the body, decoded as UTF-8. */
export type HttpAnswer = Awaited<ReturnType<typeof readAnswer>>;

type HttpFailureKind =
  | 'timeout'
  | 'connect'
  | 'reset'
  | 'too_large'
  | 'over_budget'
  | 'redirect'
  | 'refused'
  | 'aborted';

/** Error of an outbound request. `cause` is the URL of a redirect that is not followed. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  readonly kind: HttpFailureKind;

  constructor(kind: HttpFailureKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

export interface RequestContext {
  readonly signal: AbortSignal;
  /** Called before each request, also redirects and retries. May throw Problem `rate_limited`. */
  readonly takeRequest?: (() => Promise<void>) | undefined;
  /** Called with the size of each body chunk. May throw Problem `overloaded` or HttpFailure. */
  readonly takeBytes?: ((count: number) => void) | undefined;
  /** Client for which the request is sent; absent or `null` for the server's own work. */
  readonly client?: Client | null | undefined;
  /** Whether a background task, such as a history import, sends it and may wait without limit. */
  readonly isBackground?: boolean | undefined;
  /** Value of the request header `Accept`. Default: the media types that the client reads. */
  readonly accept?: string | undefined;
  /** Returns further headers for a request or a redirect, such as a signature of its URL. */
  readonly headersOf?: ((url: URL) => Readonly<Record<string, string>>) | undefined;
  /** Maximum number of redirects to the same origin that are followed. Default: 2. */
  readonly maxRedirects?: number | undefined;
  /** Parent of the request's tracing span; `undefined` if tracing is off. */
  readonly span?: TraceSpan | undefined;
}

export interface HttpClient<Answer = HttpAnswer> {
  /** Sends a GET request. Retries once after a reset. Throws HttpFailure and callbacks' errors. */
  get(url: URL, context: RequestContext): Promise<Answer>;
  close(): Promise<void>;
}

const defaultRedirects = 2;

/** Response whose body has not been read yet. */
export type UnreadResponse = Dispatcher.ResponseData;

/** Reader that converts responses to `Answer`. `accept`: value of the request header. */
export interface ResponseReader<Answer> {
  readonly accept: string;
  readonly read: (
    response: UnreadResponse,
    context: RequestContext,
    options: HttpClientOptions,
  ) => Promise<Answer>;
}

/** Opens a client with its own connection pool, for hosts that the operator has configured. */
export function openHttpClient(options: HttpClientOptions): HttpClient {
  const openPool = async () => {
    const { default: undici } = await import('undici');
    return new undici.Agent({
      connect: { timeout: options.connectTimeoutMs },
      headersTimeout: options.attemptTimeoutMs,
      bodyTimeout: options.attemptTimeoutMs,
      connections: 64,
      keepAliveTimeout: 10_000,
    });
  };
  const isAllowed = ({ protocol }: URL) => protocol === 'https:' || protocol === 'http:';
  return openClientOver(openPool, { ...options, isAllowed, reader: textReader });
}

/** Connection pools through which an HTTP client sends requests. */
export interface Sender {
  request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
  /** Closes the connections and fails requests in flight. */
  destroy(): Promise<void>;
}

interface Rules<Answer> extends HttpClientOptions {
  /** Returns whether a request or a redirect to this URL is allowed. */
  readonly isAllowed: (url: URL) => boolean;
  readonly reader: ResponseReader<Answer>;
}

type SendOptions<Answer> = Rules<Answer> & { readonly sender: Sender };

interface AttemptOptions<Answer> extends SendOptions<Answer> {
  /** Converts an error to an HttpFailure. Throws the error itself if it is a Problem. */
  readonly toFailure: (error: unknown) => HttpFailure;
  /** Counts a request before it is sent. Returns how many this call of `get` sent before it. */
  readonly countSent: () => number;
}

/** Opens an HTTP client. The first request calls `openSender`. */
export function openClientOver<Answer>(
  openSender: () => Promise<Sender>,
  rules: Rules<Answer>,
): HttpClient<Answer> {
  let opening: Promise<Sender> | undefined;
  return {
    get: async (url, context) => {
      opening ??= openSender();
      return getWithRetry(url, context, { ...rules, sender: await opening });
    },
    close: async () => {
      await (await opening)?.destroy();
    },
  };
}

async function getWithRetry<Answer>(
  url: URL,
  { signal: callers, ...context }: RequestContext,
  options: SendOptions<Answer>,
): Promise<Answer> {
  const deadline = openDeadline(options.attemptTimeoutMs, [callers]);
  const { signal } = deadline;
  let sent = 0;
  const attempt = {
    ...options,
    toFailure: (error: unknown) => toFailure(error, callers, deadline),
    countSent: () => sent++,
  };
  try {
    for (let isRetry = false; ; isRetry = true) {
      try {
        if (isRetry) await options.clock.sleep(20 + 100 * options.random.fraction(), signal);
        return await followRedirects(url, { ...context, signal }, attempt);
      } catch (error) {
        const failure = attempt.toFailure(error);
        if (isRetry || failure.kind !== 'reset') throw failure;
      }
    }
  } finally {
    deadline.close();
  }
}

async function followRedirects<Answer>(
  start: URL,
  context: RequestContext,
  options: AttemptOptions<Answer>,
): Promise<Answer> {
  const { maxRedirects = defaultRedirects } = context;
  let url = start;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    if (!options.isAllowed(url)) {
      throw new HttpFailure('refused', 'Requests to this address are not allowed.');
    }
    await context.takeRequest?.();
    const location = await sendOnce(url, context, options);
    if (!(location instanceof URL)) return location;
    if (location.origin !== start.origin) {
      throw new HttpFailure('redirect', 'The upstream redirects to another origin.', location);
    }
    url = location;
  }
  throw new HttpFailure('redirect', 'The upstream redirects too often.', url);
}

async function sendOnce<Answer>(
  url: URL,
  context: RequestContext,
  options: AttemptOptions<Answer>,
): Promise<Answer | URL> {
  const resendCount = options.countSent();
  const span = startUpstreamSpan(context.span, { method: 'GET', url, resendCount });
  const exchange = async () => {
    const response = await withoutPropagation(() => request(url, context, options));
    recordStatus(span, response.statusCode);
    const location = redirectTarget(response, url);
    if (location === null) return options.reader.read(response, context, options);
    await response.body.dump();
    return location;
  };
  const explain = (error: unknown) => {
    throw options.toFailure(error);
  };
  return endWith(span, exchange().catch(explain));
}

function request<Answer>(url: URL, context: RequestContext, options: SendOptions<Answer>) {
  const { sender, userAgent, reader } = options;
  return sender.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: 'GET',
    headers: {
      'user-agent': userAgent,
      accept: context.accept ?? reader.accept,
      'accept-encoding': 'identity',
      ...context.headersOf?.(url),
    },
    signal: context.signal,
  });
}

function redirectTarget(response: Dispatcher.ResponseData, from: URL): URL | null {
  if (![301, 302, 303, 307, 308].includes(response.statusCode)) return null;
  const location = headerText(response.headers.location);
  return location === undefined ? null : parseUrl(location, from);
}

/** Body size in bytes above which parsing takes long and waits for `heavyTurns`. */
const largeBody = 65_536;

async function readAnswer(
  response: Dispatcher.ResponseData,
  { takeBytes, client }: RequestContext,
  { heavyTurns, maxBytes, clock }: HttpClientOptions,
) {
  const bytes = await readBody(response, { maxBytes, takeBytes });
  if (bytes.length > largeBody) await heavyTurns.take(client ?? null);
  return {
    ...readHead(response, clock.now()),
    text: new TextDecoder('utf-8').decode(bytes),
    /** Returns the value of a response header. `name` must be in lower case. */
    header: (name: string) => headerText(response.headers[name]),
  };
}

/** Reader that returns the text of a response body, such as JSON. */
export const textReader: ResponseReader<HttpAnswer> = {
  accept: 'application/json',
  read: readAnswer,
};

export function readHead(
  { headers, statusCode }: Pick<Dispatcher.ResponseData, 'headers' | 'statusCode'>,
  nowMs: number,
) {
  const [mediaType = ''] = headerText(headers['content-type'])?.split(';', 1) ?? [];
  return {
    status: statusCode,
    /** Media type in lower case without parameters; empty if the header is absent. */
    mediaType: mediaType.trim().toLowerCase(),
    retryAfterSeconds: parseRetryAfter(headerText(headers['retry-after']), nowMs),
  };
}

export const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** Parses a number or a date (RFC 9110 §10.2.3) to seconds; `undefined` if invalid. */
function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000));
}

async function readBody(
  response: Dispatcher.ResponseData,
  { maxBytes, takeBytes }: Pick<HttpClientOptions, 'maxBytes'> & Pick<RequestContext, 'takeBytes'>,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const uncounted: Buffer[] = [];
  let size = 0;
  let delimiters = 0;
  try {
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      size += chunk.length;
      uncounted.push(chunk);
      if (size > maxJsonDelimiters) delimiters += countAll(uncounted.splice(0));
      if (size > maxBytes || delimiters > maxJsonDelimiters) {
        throw new HttpFailure('too_large', 'The body of the upstream’s response is too large.');
      }
      takeBytes?.(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    throw toBodyFailure(error);
  }
  return Buffer.concat(chunks);
}

// A body has at most as many delimiters as bytes, so those of most bodies are not counted.
const countAll = (chunks: readonly Buffer[]): number =>
  chunks.reduce((sum, chunk) => sum + countJsonDelimiters(chunk), 0);

/** Converts a reset during a body to an HttpFailure without retry. Returns other errors as is. */
export function toBodyFailure(error: unknown): unknown {
  if (!resetCode.test(codeOf(error))) return error;
  return new HttpFailure('connect', 'The connection closed during the response.', error);
}

/** Converts an error to an HttpFailure. Throws the error itself if it is a Problem. */
function toFailure(error: unknown, callers: AbortSignal, deadline: Deadline): HttpFailure {
  if (error instanceof Problem) throw error;
  if (error instanceof HttpFailure) return error;
  if (callers.aborted) return new HttpFailure('aborted', 'The request was cancelled.', error);
  if (deadline.isExpired || timeoutCode.test(codeOf(error))) {
    return new HttpFailure('timeout', 'The upstream did not respond in time.', error);
  }
  if (resetCode.test(codeOf(error))) {
    return new HttpFailure('reset', 'The upstream reset the connection.', error);
  }
  return new HttpFailure('connect', 'The upstream could not be reached.', error);
}

/** Matches the timeout error codes of undici (https://undici.nodejs.org/#/docs/api/Errors). */
const timeoutCode = /^UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT$/;
const resetCode = /^(?:UND_ERR_SOCKET|ECONNRESET)$/;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';
