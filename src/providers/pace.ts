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

/** Of so many turns one is left to requests that are in a hurry. */
const turnsForOthers = 5;

/** Requests can arrive later than they start, and those of a burst closer to the next one. */
const slackMs = 2000;

/**
 * Gives a client that starts no more than `perMinute` requests in any 60 seconds: a request over
 * that waits for its turn, in order of arrival. The one retry after a reset and a redirect within the
 * upstream belong to the request that caused them. Requests that are not in a hurry take no more than
 * four fifths of the turns, and wait as long as it takes.
 *
 * The returned `get` also throws ProviderError `throttled` when the turn would come too late.
 */
export function withPace(http: HttpClient, options: PaceOptions): HttpClient {
  const turns = createTurns(options);
  return {
    get: async (url, context) => {
      await (context.isUnhurried === true ? turns.await : turns.take)(context.signal);
      return http.get(url, context);
    },
    close: () => http.close(),
  };
}

interface Turns {
  /** Takes the next turn and waits for it. @throws ProviderError `throttled` */
  take(signal: AbortSignal): Promise<void>;
  /** Waits until there is a turn to spare, and takes it. */
  await(signal: AbortSignal): Promise<void>;
}

/** Remembers when the last `perMinute` turns were taken: the one before all of them frees a turn. */
function createTurns({ perMinute, maxWaitMs, clock }: PaceOptions): Turns {
  const takenAt = new Float64Array(perMinute).fill(Number.NEGATIVE_INFINITY);
  const reserved = Math.floor(perMinute / turnsForOthers);
  let next = 0;
  /** When a turn is free, where so many of them are left to others. */
  const freeAt = (left: number, now: number) =>
    Math.max(now, (takenAt[(next + left) % perMinute] ?? now) + minuteMs);
  const take = (at: number) => {
    takenAt[next] = at;
    next = (next + 1) % perMinute;
  };
  return {
    take: async (signal) => {
      const now = clock.now();
      const at = freeAt(0, now);
      if (at - now > maxWaitMs) {
        throw new ProviderError(
          'throttled',
          'This server has used up its pace with the upstream.',
          { retryAfterSeconds: Math.ceil((at - now) / 1000) },
        );
      }
      take(at);
      if (at > now) await waitForTurn(at - now, clock, signal);
    },
    await: async (signal) => {
      // Others may come first meanwhile, so that nothing is taken before its time.
      for (;;) {
        const now = clock.now();
        const at = freeAt(reserved, now - slackMs) + slackMs;
        if (at <= now) return take(now);
        await waitForTurn(at - now, clock, signal);
      }
    },
  };
}

async function waitForTurn(waitMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(waitMs, signal);
  } catch (error) {
    throw new HttpFailure('aborted', 'Nobody waits for the answer.', error);
  }
}
