import type { Dispatcher } from 'undici';
import type { Client } from '../caller.ts';
import type { Clock } from '../clock.ts';
import { Problem } from '../problem.ts';
import type { Random } from '../random.ts';
import type { Sliced } from '../scheduling/slices.ts';
import { type Turns, waitForTurn } from '../scheduling/turns.ts';
import { parseUrl } from './url.ts';

export interface HttpClientOptions {
  readonly connectTimeoutMs: number;
  /** For one attempt, from connecting to the last byte of the body. */
  readonly attemptTimeoutMs: number;
  readonly maxBytes: number;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly heavyTurns: Turns;
}

/** An answer of any status; `text` is its body, decoded as UTF-8. */
export type HttpAnswer = Awaited<ReturnType<typeof readAnswer>>;

type HttpFailureKind =
  | 'timeout'
  | 'connect'
  | 'reset'
  | 'too_large'
  | 'redirect'
  | 'refused'
  | 'aborted';

/** An outbound request without a usable answer. The `cause` of a `redirect` to another origin is its unchecked URL. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  readonly kind: HttpFailureKind;

  constructor(kind: HttpFailureKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** What goes with a request to an upstream. */
export interface RequestContext extends Sliced {
  /** Called when a body is complete: waiting for it was no work. */
  readonly beginSlice?: (() => void) | undefined;
  readonly signal: AbortSignal;
  /** Called before each request, also for redirects and retries. It may throw Problem `rate_limited`. */
  readonly takeRequest?: (() => Promise<void>) | undefined;
  /** Called with the size of each piece of the body. It may throw Problem `overloaded`, which ends the request. */
  readonly takeBytes?: ((count: number) => void) | undefined;
  /** The client that the request is for; absent or `null` for the server's own work. */
  readonly client?: Client | null | undefined;
  /** True for one of many requests: it waits for its turn without a limit. */
  readonly isUnhurried?: boolean | undefined;
}

export interface HttpClient {
  /**
   * Sends one GET. At most two redirects to the same origin are followed. A connection that is reset before a byte
   * arrives is tried once more, after 20 to 120 ms. Throws HttpFailure, and what `takeRequest` and `takeBytes` throw.
   */
  get(url: URL, context: RequestContext): Promise<HttpAnswer>;
  close(): Promise<void>;
}

const maxRedirects = 2;

/** Opens a client with its own pool of connections, for hosts that the operator has chosen. */
export function openHttpClient(options: HttpClientOptions): HttpClient {
  const openPool = async () => {
    const undici = await import('undici');
    return new undici.Agent({
      connect: { timeout: options.connectTimeoutMs },
      headersTimeout: options.attemptTimeoutMs,
      bodyTimeout: options.attemptTimeoutMs,
      connections: 64,
      keepAliveTimeout: 10_000,
    });
  };
  return openClientOver(openPool, {
    ...options,
    isAllowed: ({ protocol }) => protocol === 'https:' || protocol === 'http:',
  });
}

/** Sends the requests of a client and holds its connections. */
export interface Sender {
  request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
  /** Closes its connections and fails what is under way. */
  destroy(): Promise<void>;
}

interface Rules extends HttpClientOptions {
  /** Called with the URL of each request, those of redirects included. */
  readonly isAllowed: (url: URL) => boolean;
}

type Sending = Rules & { readonly sender: Sender };

/** Opens a client that sends in its own way. The sender is opened with the first request. */
export function openClientOver(openSender: () => Promise<Sender>, rules: Rules): HttpClient {
  let opening: Promise<Sender> | undefined;
  return {
    get: async (url, context) => {
      opening ??= openSender();
      return getOnceOrTwice(url, context, { ...rules, sender: await opening });
    },
    close: async () => {
      await (await opening)?.destroy();
    },
  };
}

async function getOnceOrTwice(
  url: URL,
  { signal: callers, ...context }: RequestContext,
  options: Sending,
): Promise<HttpAnswer> {
  const deadline = AbortSignal.timeout(options.attemptTimeoutMs);
  const signal = AbortSignal.any([callers, deadline]);
  for (let isAgain = false; ; isAgain = true) {
    try {
      if (isAgain) await options.clock.sleep(20 + 100 * options.random.fraction(), signal);
      return await follow(url, { ...context, signal }, options);
    } catch (error) {
      const failure = toFailure(error, callers, deadline);
      if (isAgain || failure.kind !== 'reset') throw failure;
    }
  }
}

async function follow(start: URL, context: RequestContext, options: Sending): Promise<HttpAnswer> {
  let url = start;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    if (!options.isAllowed(url)) {
      throw new HttpFailure('refused', 'The address is not one that may be asked.');
    }
    await context.takeRequest?.();
    const response = await options.sender.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      headers: {
        'user-agent': options.userAgent,
        accept: 'application/json',
        'accept-encoding': 'identity',
      },
      signal: context.signal,
    });
    const location = redirectTarget(response, url);
    if (location === null) return readAnswer(response, context, options);
    await response.body.dump();
    if (location.origin !== start.origin) {
      throw new HttpFailure('redirect', 'The upstream redirects to another origin.', location);
    }
    url = location;
  }
  throw new HttpFailure('redirect', 'The upstream redirects too often.');
}

function redirectTarget(response: Dispatcher.ResponseData, from: URL): URL | null {
  if (![301, 302, 303, 307, 308].includes(response.statusCode)) return null;
  const location = headerText(response.headers.location);
  return location === undefined ? null : parseUrl(location, from);
}

/** Bytes of a body beyond which it waits for its turn, because parsing it takes a while. */
const largeBody = 65_536;

async function readAnswer(
  response: Dispatcher.ResponseData,
  { takeBytes, client, beginSlice }: RequestContext,
  { heavyTurns, maxBytes, clock }: Sending,
) {
  const bytes = await readBody(response, { maxBytes, takeBytes });
  if (bytes.length > largeBody) await waitForTurn(heavyTurns, client?.address ?? '', () => true);
  beginSlice?.();
  return {
    ...readHead(response, clock.now()),
    text: new TextDecoder('utf-8').decode(bytes),
    /** Returns a header by its name in lower case. */
    header: (name: string) => headerText(response.headers[name]),
  };
}

/** Returns status and headers of a response. */
export function readHead(
  { headers, statusCode }: Pick<Dispatcher.ResponseData, 'headers' | 'statusCode'>,
  nowMs: number,
) {
  const [mediaType = ''] = headerText(headers['content-type'])?.split(';', 1) ?? [];
  return {
    status: statusCode,
    /** Without parameters, in lower case; empty if there is none. */
    mediaType: mediaType.trim().toLowerCase(),
    retryAfterSeconds: parseRetryAfter(headerText(headers['retry-after']), nowMs),
  };
}

/** Returns the first value of a header. */
const headerText = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** Reads `Retry-After` (RFC 9110 §10.2.3), seconds or a date; returns `undefined` for anything else. */
function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000));
}

/** Maximum number of `,`, `[`, `{` and `\` in JSON: each takes time to parse. Real bodies have one per 27 bytes. */
export const maxJsonMarks = 75_000;

/** 1 for a mark, 0 for any other byte: a `Set` is several times slower. */
const jsonMarks = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(',[{\\'.includes(String.fromCharCode(byte))),
);

/** Counts the marks that `maxJsonMarks` bounds, in strings as well. */
export function countJsonMarks(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) count += jsonMarks[byte] ?? 0;
  return count;
}

async function readBody(
  response: Dispatcher.ResponseData,
  { maxBytes, takeBytes }: Pick<Sending, 'maxBytes'> & Pick<RequestContext, 'takeBytes'>,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  let marks = 0;
  try {
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      size += chunk.length;
      marks += countJsonMarks(chunk);
      if (size > maxBytes || marks > maxJsonMarks) {
        throw new HttpFailure('too_large', 'The upstream sends too large a body.');
      }
      takeBytes?.(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    // A body that breaks off has sent bytes: it is not the reset that a retry helps with.
    if (!resetCode.test(codeOf(error))) throw error;
    throw new HttpFailure('connect', 'The upstream broke off its answer.', error);
  }
  return Buffer.concat(chunks);
}

/** @throws Problem where the request was refused before it was sent */
function toFailure(error: unknown, callers: AbortSignal, deadline: AbortSignal): HttpFailure {
  if (error instanceof Problem) throw error;
  if (error instanceof HttpFailure) return error;
  if (callers.aborted) return new HttpFailure('aborted', 'Nobody waits for the answer.', error);
  if (deadline.aborted || timeoutCode.test(codeOf(error))) {
    return new HttpFailure('timeout', 'The upstream did not answer in time.', error);
  }
  if (resetCode.test(codeOf(error))) {
    return new HttpFailure('reset', 'The upstream reset the connection.', error);
  }
  return new HttpFailure('connect', 'The upstream could not be reached.', error);
}

/** Codes of undici's errors (https://undici.nodejs.org/#/docs/api/Errors) and of the operating system's. */
const timeoutCode = /^UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT$/;
const resetCode = /^(?:UND_ERR_SOCKET|ECONNRESET)$/;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';
