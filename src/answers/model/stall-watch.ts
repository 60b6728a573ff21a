import type { Clock } from '../../core/clock.ts';
import { ModelFailure } from './model-failure.ts';

/** How long a language model may take, in milliseconds. */
export interface ModelTimes {
  /** Until its first words, and between two pieces of them. */
  readonly stallMs: number;
  /** All in all. */
  readonly totalMs: number;
}

/** Watches over one exchange with a model. */
export interface StallWatch {
  /** Says that something has come. */
  touch(): void;
  end(): void;
}

/** Begins to watch; `onStall` is called once, when the model takes too long. */
export function startStallWatch(
  { clock, stallMs, totalMs }: ModelTimes & { readonly clock: Clock },
  onStall: (failure: ModelFailure) => void,
): StallWatch {
  const over = new AbortController();
  const deadlineMs = clock.now() + totalMs;
  let stallsAtMs = clock.now() + stallMs;
  const watch = async (): Promise<void> => {
    for (;;) {
      const leftMs = Math.min(stallsAtMs, deadlineMs) - clock.now();
      if (leftMs <= 0) break;
      await clock.sleep(leftMs, over.signal);
    }
    onStall(toFailure(clock.now() < deadlineMs ? stallMs : totalMs));
  };
  watch().catch(() => undefined); // ended in time
  return {
    touch: () => {
      stallsAtMs = clock.now() + stallMs;
    },
    end: () => over.abort(),
  };
}

function toFailure(ms: number): ModelFailure {
  const seconds = Number((ms / 1000).toFixed(1));
  return new ModelFailure('model_stalled', `The language model took more than ${seconds} seconds.`);
}
