import type { Clock } from '../core/clock.ts';
import { type HttpClient, HttpFailure } from '../core/http-client.ts';
import { ProviderError } from './provider.ts';

/** How many requests an upstream may get, and how long one may wait for its turn. */
export interface PaceOptions {
  /** The most requests in any 60 seconds. */
  readonly perMinute: number;
  readonly maxWaitMs: number;
  readonly clock: Clock;
}

const minuteMs = 60_000;

/**
 * Gives a client that starts no more than `perMinute` requests in any 60 seconds: a request over
 * that waits for its turn, in order of arrival. The one retry after a reset and a redirect within the
 * upstream belong to the request that caused them.
 *
 * The returned `get` also throws ProviderError `throttled` when the turn would come too late.
 */
export function withPace(http: HttpClient, options: PaceOptions): HttpClient {
  const takeTurn = createTurns(options);
  return {
    get: async (url, context) => {
      const waitMs = takeTurn();
      if (waitMs > 0) await waitForTurn(waitMs, options.clock, context.signal);
      return http.get(url, context);
    },
    close: () => http.close(),
  };
}

/** Remembers when the last `perMinute` turns were taken: the one before all of them frees a turn. */
function createTurns({ perMinute, maxWaitMs, clock }: PaceOptions): () => number {
  const takenAt = new Float64Array(perMinute).fill(Number.NEGATIVE_INFINITY);
  let next = 0;
  return () => {
    const now = clock.now();
    const at = Math.max(now, (takenAt[next] ?? now) + minuteMs);
    if (at - now > maxWaitMs) {
      throw new ProviderError('throttled', 'This server has used up its pace with the upstream.', {
        retryAfterSeconds: Math.ceil((at - now) / 1000),
      });
    }
    takenAt[next] = at;
    next = (next + 1) % perMinute;
    return at - now;
  };
}

async function waitForTurn(waitMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(waitMs, signal);
  } catch (error) {
    throw new HttpFailure('aborted', 'Nobody waits for the answer.', error);
  }
}
