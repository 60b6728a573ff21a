import type { Clock } from '../../core/clock.ts';
import type { ModelFailure } from './model-failure.ts';

/** Leaves an endpoint alone that does not answer, so that not every question waits for it. */
export interface Pause {
  readonly isOn: boolean;
  noteFailure(failure: ModelFailure): void;
  noteAnswer(): void;
}

/** After how many failures in a row it is left alone, and for how long at most. */
const limits = { failures: 5, pauseMs: 30_000, longestMs: 60_000 } as const;

/** Creates the pause of one endpoint. */
export function createPause(clock: Clock): Pause {
  let failures = 0;
  let untilMs = 0;
  return {
    get isOn() {
      return clock.now() < untilMs;
    },
    noteFailure: ({ retryAfterSeconds = 0 }) => {
      failures += 1;
      const ownMs = failures >= limits.failures ? limits.pauseMs : 0;
      const pauseMs = Math.max(ownMs, Math.min(limits.longestMs, retryAfterSeconds * 1000));
      untilMs = clock.now() + pauseMs;
    },
    noteAnswer: () => {
      failures = 0;
    },
  };
}
