import type { Clock } from './options.ts';

/** Group of operations that share an allowance: posts, replies and embeds, or all other reads. */
export type Surface = 'post' | 'browse';

/** Record of the allowances (remaining requests) that the server reports. */
export interface Pacer {
  /** Counts a request, and returns the time in milliseconds to wait before it is sent. */
  take(surface: Surface): number;
  /**
   * Stores the allowance that the `RateLimit` header of a response reports. Does nothing without
   * this header.
   */
  note(surface: Surface, headers: Headers): void;
}

/** Creates an empty record of allowances. Before the first response, `take` returns 0 (no wait). */
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
