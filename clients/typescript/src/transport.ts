import { readParts, readText } from './bodies.ts';
import { createExchange, type Exchange, guard, type Request } from './exchange.ts';
import { type CallOptions, type Clock, type PerchOptions, systemClock } from './options.ts';
import { createPacer } from './pacing.ts';
import { retry } from './retry.ts';
import { openWatchdog, type Watchdog } from './watchdog.ts';

/** Successful response, whose body has been read. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Open response whose body is read part by part. */
export interface Stream {
  readonly headers: Headers;
  /** Parts of the body. Leaving the iteration early closes the connection. @throws ConnectionError */
  readonly parts: AsyncIterable<Uint8Array>;
}

/** Options for opening a response as a stream. */
interface OpenOptions {
  readonly signal?: AbortSignal | undefined;
  /** Maximum time in milliseconds between two received parts of the body. */
  readonly stallMs?: number | undefined;
}

/** Sender of requests to a server. */
export interface Transport {
  readonly clock: Clock;
  readonly random: () => number;
  readonly retries: number;
  /** Sends a request and reads the body. Retries within the deadline. @throws PerchError */
  send(request: Request, call?: CallOptions): Promise<Reply>;
  /** Sends a request once and opens the body as a stream. @throws PerchError */
  open(request: Request, options?: OpenOptions): Promise<Stream>;
}

const defaultDeadlineMs = 60_000;
const defaultStallMs = 30_000;

export function createTransport(options: PerchOptions): Transport {
  const { clock = systemClock, random = Math.random, retries = 4, pacing = true } = options;
  const { stallMs = defaultStallMs, deadlineMs = defaultDeadlineMs } = options;
  const pacer = createPacer(clock);
  const exchange = createExchange(options, { clock, pacer });
  /**
   * Waits until the server's rate limit permits another request. Returns at once, so that the request is sent
   * without a wait, if the wait would take `maxMs` milliseconds or longer.
   */
  const pace = async ({ surface }: Request, maxMs: number, signal?: AbortSignal) => {
    const waitMs = pacing && surface !== undefined ? pacer.take(surface) : 0;
    if (waitMs > 0 && waitMs < maxMs) await clock.sleep(waitMs, signal);
  };
  return {
    clock,
    random,
    retries,
    send: (request, { signal, deadlineMs: ownDeadlineMs = deadlineMs } = {}) => {
      const endMs = clock.now() + ownDeadlineMs;
      const attempt = async () => {
        await pace(request, endMs - clock.now(), signal);
        const timeoutMs = Math.max(0, Math.min(stallMs, endMs - clock.now()));
        const watchdog = openWatchdog(clock, timeoutMs, signal);
        try {
          return await guard(watchdog, signal, () => readReply(exchange, request, watchdog));
        } finally {
          watchdog.close();
        }
      };
      return retry(attempt, { clock, random, retries, endMs, signal });
    },
    open: async (request, { signal, stallMs: ownStallMs = stallMs } = {}) => {
      await pace(request, deadlineMs, signal);
      const watchdog = openWatchdog(clock, stallMs, signal);
      try {
        const send = () => exchange(request, watchdog.signal);
        const response = await guard(watchdog, signal, send);
        const watch = { watchdog, signal, stallMs: ownStallMs };
        return { headers: response.headers, parts: watchParts(response, watch) };
      } catch (error) {
        watchdog.close();
        throw error;
      }
    },
  };
}

async function readReply(exchange: Exchange, request: Request, { signal }: Watchdog) {
  const response = await exchange(request, signal);
  return { status: response.status, headers: response.headers, text: await readText(response) };
}

interface Watch {
  readonly watchdog: Watchdog;
  readonly signal: AbortSignal | undefined;
  readonly stallMs: number;
}

/**
 * Yields the parts of a response body. Each part restarts the timer `watchdog`. At the end, stops
 * the timer and closes the connection.
 */
async function* watchParts(response: Response, { watchdog, signal, stallMs }: Watch) {
  watchdog.restart(stallMs);
  const parts = readParts(response, () => watchdog.restart(stallMs));
  try {
    for (;;) {
      const { done, value } = await guard(watchdog, signal, () => parts.next());
      if (done) return;
      yield value;
    }
  } finally {
    watchdog.close();
    await parts.return(undefined);
  }
}
