import type { Clock } from './options.ts';

/**
 * Group of operations with a common rate limit. `post`: reads of posts, replies and embeds.
 * `browse`: all other reads.
 */
export type Surface = 'post' | 'browse';

/** Record of the number of requests that the server still allows, for each group of operations. */
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
 * Creates an empty record of the number of requests that the server still allows. `take` returns 0 (no wait) for a
 * group of operations until `note` has stored a number for that group.
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
