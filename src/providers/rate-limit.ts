import { type Clock, createSteadyClock } from '../lib/clock.ts';
import { type HttpClient, HttpFailure, type RequestContext } from '../lib/http/http-client.ts';
import { ProviderError } from '../normalize/provider-error.ts';

interface RateLimitOptions {
  /** Returns the current maximum number of requests per minute, which may change. */
  readonly perMinute: () => number;
  readonly maxWaitMs: number;
  readonly clock: Clock;
}

const minuteMs = 60_000;

/**
 * Returns an HTTP client that starts at most `perMinute` requests in any 60 seconds, in the order of
 * arrival. Background requests start only when no other request waits.
 * @throws ProviderError `throttled` from `get` if a foreground request would wait longer than
 *   `maxWaitMs`; background requests wait without a limit
 */
export function withRateLimit(http: HttpClient, options: RateLimitOptions): HttpClient {
  const { perMinute, maxWaitMs } = options;
  const clock = createSteadyClock(options.clock);
  const starts: number[] = []; // in order, with those of waiting foreground requests
  const nextStart = (now: number): number => {
    for (let [first] = starts; first !== undefined && first <= now - minuteMs; [first] = starts) {
      starts.shift();
    }
    const last = starts[starts.length - perMinute()];
    return last === undefined ? now : Math.max(now, last + minuteMs);
  };
  const waitForStart = async ({ signal }: RequestContext): Promise<void> => {
    const now = clock.now();
    const at = nextStart(now);
    if (at - now > maxWaitMs) throw throttled(at - now);
    starts.push(at);
    if (at > now) await clock.sleep(at - now, signal).catch(cancel);
  };
  // A background request reserves nothing, so that those in the foreground start before it.
  const getInBackground: HttpClient['get'] = async (url, context) => {
    for (let now = clock.now(); nextStart(now) > now; now = clock.now()) {
      await clock.sleep(nextStart(now) - now, context.signal).catch(cancel);
    }
    starts.push(clock.now());
    return http.get(url, context);
  };
  return {
    get: async (url, context) => {
      if (context.isBackground === true) return getInBackground(url, context);
      await waitForStart(context);
      return http.get(url, context);
    },
    close: () => http.close(),
  };
}

function throttled(waitMs: number): ProviderError {
  const message = 'This server has reached its rate limit for requests to the upstream.';
  return new ProviderError('throttled', message, { retryAfterSeconds: Math.ceil(waitMs / 1000) });
}

function cancel(error: unknown): never {
  throw new HttpFailure('aborted', 'The request was cancelled.', error);
}
