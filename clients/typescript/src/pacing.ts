import type { Clock } from './options.ts';

/**
 * Group of operations with a common rate limit. `post`: reads of posts, replies and embeds.
 * `browse`: all other reads.
 */
export type Surface = 'post' | 'browse';

/** Record of the number of remaining requests for each group of operations. The client waits if no request remains. */
export interface Pacer {
  /**
   * Counts a request. Returns the milliseconds to wait before it is sent: the time until the rate limit resets if no
   * request remains, otherwise 0.
   */
  take(surface: Surface): number;
  /**
   * Stores the number of remaining requests, and the time of the reset, from the `RateLimit` header of a response.
   * Does nothing if the header is missing or invalid.
   */
  note(surface: Surface, headers: Headers): void;
}

/**
 * Creates a record of the requests that the server still allows. The client uses it to stay within the rate limits.
 * `take` returns 0 (no wait) for a group of operations until `note` has stored its remaining requests.
 */
export function createPacer(clock: Clock): Pacer {
  const states = new Map<Surface, { remaining: number; resetMs: number }>();
  return {
    take: (surface) => {
      const state = states.get(surface);
      if (state === undefined) return 0;
      state.remaining -= 1;
      return state.remaining >= 0 ? 0 : Math.max(0, state.resetMs - clock.now());
    },
    note: (surface, headers) => {
      // The form of draft-ietf-httpapi-ratelimit-headers: `"public";r=59;t=60`.
      const [, remaining, seconds] =
        /^"[^"]*";r=(\d{1,9});t=(\d{1,9})/.exec(headers.get('ratelimit') ?? '') ?? [];
      if (remaining === undefined) return;
      const resetMs = clock.now() + Number(seconds) * 1000;
      states.set(surface, { remaining: Number(remaining), resetMs });
    },
  };
}
