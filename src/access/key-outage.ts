import type { Clock } from '../core/clock.ts';
import type { KeyFileTrouble } from './key-file-look.ts';

/** Who is told when the keys cannot be read, and when they can again; each once for an outage. */
export interface OutageListener {
  onTrouble?(reason: string, error: unknown): void;
  onRecovered?(): void;
}

/** Whether the keys can be read now, as far as is known. */
export interface KeyOutage {
  /** True for a second after each failure: nobody asks the store then (decisions section 6). */
  isResting(): boolean;
  fail(trouble: KeyFileTrouble): void;
  recover(): void;
}

/** How long a store that failed is left alone. */
const restMs = 1000;

/** Creates the memory of outages; there is none yet. */
export function createKeyOutage(clock: Clock, listener: OutageListener): KeyOutage {
  let failedAtMs: number | undefined;
  return {
    isResting: () => {
      if (failedAtMs === undefined) return false;
      const restedMs = clock.now() - failedAtMs;
      // The machine's clock may be set back; nobody waits for it to catch up.
      return restedMs >= 0 && restedMs < restMs;
    },
    fail: ({ fault, error }) => {
      const isNew = failedAtMs === undefined;
      failedAtMs = clock.now();
      if (isNew) listener.onTrouble?.(fault, error);
    },
    recover: () => {
      if (failedAtMs === undefined) return;
      failedAtMs = undefined;
      listener.onRecovered?.();
    },
  };
}
