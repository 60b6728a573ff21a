import type { Agent, Dispatcher } from 'undici';
import type { Client } from '../caller.ts';
import type { Clock } from '../clock.ts';
import { Problem } from '../problem.ts';
import type { Random } from '../random.ts';
import type { Sliced } from '../scheduling/slices.ts';
import { type Turns, waitForTurn } from '../scheduling/turns.ts';
import { type HttpHead, headerText, readHead } from './http-head.ts';
import { parseUrl } from './url.ts';

/** Limits of outbound requests. Times in milliseconds, sizes in bytes. */
export interface HttpClientOptions {
  readonly connectTimeoutMs: number;
  /** One attempt, from connecting to the last byte of the body. */
  readonly attemptTimeoutMs: number;
  readonly maxBytes: number;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Turns of clients with large bodies, and with other work that takes long. */
  readonly heavyTurns: Turns;
}

/** What came back, whatever its status. */
export interface HttpAnswer extends HttpHead {
  /** The body, decoded as UTF-8. */
  readonly text: string;
  /** Gives a header by its name in lower case, the first where there are several. */
  header(name: string): string | undefined;
}

/**
 * Why there is no answer. `timeout`, `connect` and `reset` say that the upstream is down, `too_large`
 * and `redirect` that it answered something that is not accepted, `refused` that its address is not one
 * that may be contacted, `aborted` that nobody waits.
 */
export type HttpFailureKind =
  | 'timeout'
  | 'connect'
  | 'reset'
  | 'too_large'
  | 'redirect'
  | 'refused'
  | 'aborted';

/**
 * An outbound request that gave no usable answer. The `cause` of a `redirect` to another origin is its
 * target, a URL that nobody has checked.
 */
export class HttpFailure extends Error {
  readonly kind: HttpFailureKind;

  constructor(kind: HttpFailureKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'HttpFailure';
    this.kind = kind;
  }
}

/** What goes with a request to an upstream. */
export interface RequestContext extends Sliced {
  /** Called when a body is complete, because the wait for it was no work. */
  readonly beginSlice?: (() => void) | undefined;
  readonly signal: AbortSignal;
  /**
   * Takes the request out of what all callers share, before it is sent, also one that follows a redirect
   * or is tried once more; absent where it is free.
   *
   * @throws Problem `rate_limited`, which everybody lets through
   */
  readonly takeRequest?: (() => Promise<void>) | undefined;
  /**
   * Called with the size of each piece of the body before it is kept; absent where nobody counts.
   *
   * @throws Problem `overloaded`, which ends the request
   */
  readonly takeBytes?: ((count: number) => void) | undefined;
  /** The client that the request is made for; absent or `null` for the server's own work. */
  readonly client?: Client | null | undefined;
  /**
   * True for one of many requests: it waits for its turn with the upstream as long as it takes, and
   * leaves some of the turns to whoever asks for one thing.
   */
  readonly isUnhurried?: boolean | undefined;
}

/** Sends GET requests to upstreams. Close it with `close()`. */
export interface HttpClient {
  /**
   * Gives the answer to one GET.
   *
   * A redirect is followed to the same origin only, twice at most. A connection that was reset
   * before a byte arrived is tried once more, after 20 to 120 ms.
   *
   * @throws HttpFailure, and what `takeRequest` throws
   */
  get(url: URL, context: RequestContext): Promise<HttpAnswer>;
  close(): Promise<void>;
}

const maxRedirects = 2;

/**
 * Opens an HTTP client for hosts that the operator has chosen, wherever they are, with its own pool of
 * connections.
 */
export function openHttpClient(options: HttpClientOptions): HttpClient {
  return openClientOver(options, {
    openSender: () => openPool(options),
    isAllowed: ({ protocol }) => protocol === 'https:' || protocol === 'http:',
  });
}

async function openPool(options: HttpClientOptions): Promise<Agent> {
  const undici = await import('undici');
  return new undici.Agent({
    connect: { timeout: options.connectTimeoutMs },
    headersTimeout: options.attemptTimeoutMs,
    bodyTimeout: options.attemptTimeoutMs,
    connections: 64,
    keepAliveTimeout: 10_000,
  });
}

/** What sends the requests of a client and holds its connections. */
export interface Sender {
  request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
  /** Closes its connections and fails what is under way. */
  destroy(): Promise<void>;
}

/** What tells one kind of client from another. */
export interface ClientKind {
  /**
   * Called with the first request, because a server that answers from its archive can start without
   * the library behind it.
   */
  readonly openSender: () => Promise<Sender>;
  /** Tells whether a URL may be asked for; it is asked before each request, also of a redirect's. */
  readonly isAllowed: (url: URL) => boolean;
}

/** Opens an HTTP client that sends in its own way. */
export function openClientOver(options: HttpClientOptions, kind: ClientKind): HttpClient {
  let opening: Promise<Sender> | undefined;
  return {
    get: async (url, context) => {
      opening ??= kind.openSender();
      return getOnceOrTwice(url, context, {
        ...options,
        sender: await opening,
        isAllowed: kind.isAllowed,
      });
    },
    close: async () => {
      await (await opening)?.destroy();
    },
  };
}

interface Sending extends HttpClientOptions {
  readonly sender: Sender;
  readonly isAllowed: ClientKind['isAllowed'];
}

async function getOnceOrTwice(
  url: URL,
  { signal: callers, ...context }: RequestContext,
  options: Sending,
): Promise<HttpAnswer> {
  const deadline = AbortSignal.timeout(options.attemptTimeoutMs);
  const signal = AbortSignal.any([callers, deadline]);
  try {
    return await follow(url, { ...context, signal }, options);
  } catch (error) {
    const failure = toFailure(error, callers, deadline);
    if (failure.kind !== 'reset') throw failure;
  }
  try {
    await options.clock.sleep(20 + 100 * options.random.fraction(), signal);
    return await follow(url, { ...context, signal }, options);
  } catch (error) {
    throw toFailure(error, callers, deadline);
  }
}

async function follow(
  start: URL,
  { signal, takeRequest, takeBytes, client, beginSlice }: RequestContext,
  options: Sending,
): Promise<HttpAnswer> {
  let url = start;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    if (!options.isAllowed(url)) {
      throw new HttpFailure('refused', 'The address is not one that may be asked.');
    }
    await takeRequest?.();
    const response = await options.sender.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'GET',
      headers: {
        'user-agent': options.userAgent,
        accept: 'application/json',
        'accept-encoding': 'identity',
      },
      signal,
    });
    const location = redirectTarget(response, url);
    if (location === null) {
      const bytes = await readBody(response, { ...options, takeBytes });
      await waitIfLarge(bytes, client, options);
      beginSlice?.();
      return toAnswer(response, bytes, options.clock);
    }
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

/** Bytes of a body beyond which it waits for its turn, because it takes a while to be understood. */
const largeBody = 65_536;

async function waitIfLarge(
  { length }: Buffer,
  client: RequestContext['client'],
  { heavyTurns }: HttpClientOptions,
): Promise<void> {
  if (length <= largeBody) return;
  await waitForTurn(heavyTurns, client?.address ?? '', () => true);
}

function toAnswer(response: Dispatcher.ResponseData, bytes: Buffer, clock: Clock): HttpAnswer {
  return {
    ...readHead(response, clock.now()),
    text: new TextDecoder('utf-8').decode(bytes),
    header: (name) => headerText(response.headers[name]),
  };
}

/**
 * Maximum number of `,`, `[`, `{` and backslashes in a body of JSON. Parsing takes time for each value and each escape, far more
 * than for a byte of text. Real bodies have one of these for every 27 bytes or more.
 */
export const maxJsonMarks = 75_000;

const jsonMarks = Uint8Array.from({ length: 256 }, (_, byte) =>
  ',[{\\'.includes(String.fromCharCode(byte)) ? 1 : 0,
);

/** Counts what `maxJsonMarks` bounds in a part of a body. Marks in strings count as well. */
export function countJsonMarks(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) count += jsonMarks[byte] ?? 0;
  return count;
}

interface BodyOptions
  extends Pick<HttpClientOptions, 'maxBytes'>,
    Pick<RequestContext, 'takeBytes'> {}

async function readBody(
  response: Dispatcher.ResponseData,
  { maxBytes, takeBytes }: BodyOptions,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  let marks = 0;
  try {
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      size += chunk.length;
      marks += countJsonMarks(chunk);
      if (size > maxBytes || marks > maxJsonMarks)
        throw new HttpFailure('too_large', 'The upstream sends too large a body.');
      takeBytes?.(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    // A body that breaks off has sent bytes: it is not the reset that a retry helps with.
    throw resetCodes.has(codeOf(error))
      ? new HttpFailure('connect', 'The upstream broke off its answer.', error)
      : error;
  }
  return Buffer.concat(chunks);
}

/** @throws Problem where the request was refused before it was sent */
function toFailure(error: unknown, callers: AbortSignal, deadline: AbortSignal): HttpFailure {
  if (error instanceof Problem) throw error;
  if (error instanceof HttpFailure) return error;
  if (callers.aborted) return new HttpFailure('aborted', 'Nobody waits for the answer.', error);
  if (deadline.aborted || timeoutCodes.has(codeOf(error))) {
    return new HttpFailure('timeout', 'The upstream did not answer in time.', error);
  }
  if (resetCodes.has(codeOf(error)))
    return new HttpFailure('reset', 'The upstream reset the connection.', error);
  return new HttpFailure('connect', 'The upstream could not be reached.', error);
}

/** Codes of undici's errors (its `docs/docs/api/Errors.md`) and of the operating system's. */
const timeoutCodes: ReadonlySet<unknown> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);
const resetCodes: ReadonlySet<unknown> = new Set(['UND_ERR_SOCKET', 'ECONNRESET']);

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
