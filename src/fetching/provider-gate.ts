import type { Clock } from '../core/clock.ts';
import { ProviderError } from '../providers/provider.ts';

/** When a provider is left alone. Times in milliseconds. */
export interface GateOptions {
  readonly clock: Clock;
  /** Consecutive failures that open the breaker. */
  readonly failures: number;
  readonly openMs: number;
  /** The longest that it stays open; each opening in a row doubles the last. */
  readonly maxOpenMs: number;
  /** Told of each change of state. */
  readonly onChange: (state: BreakerState) => void;
}

/** `closed`: asked as usual; `open`: not asked; `half_open`: one query tries whether it is back. */
export type BreakerState = 'closed' | 'open' | 'half_open';

/** A circuit breaker before one provider, which also keeps the pause that a throttling one asks for. */
export interface Gate {
  readonly state: BreakerState;
  /**
   * Asks the provider, unless it is to be left alone.
   *
   * @throws what `ask` throws; ProviderError `unavailable` while open, `throttled` during a pause.
   */
  run<Found>(ask: () => Promise<Found>, signal: AbortSignal): Promise<Found>;
}

/** The pause where a throttling provider names none (FxTwitter, limits). */
const defaultPauseSeconds = 60;

/** The longest pause that a `Retry-After` of a provider is believed. */
const maxPauseMs = 300_000;

/** Creates a gate that is closed, so that the provider is asked. */
export function createGate(options: GateOptions): Gate {
  const breaker = new Breaker(options);
  return {
    get state() {
      return breaker.state;
    },
    run: async (ask, signal) => {
      breaker.admit();
      try {
        const found = await ask();
        breaker.succeed();
        return found;
      } catch (error) {
        // Whoever left, or the read's own deadline, says nothing of the provider.
        if (error instanceof ProviderError && !signal.aborted) breaker.fail(error);
        throw error;
      } finally {
        breaker.endProbe();
      }
    },
  };
}

class Breaker {
  state: BreakerState = 'closed';
  readonly #options: GateOptions;
  #failures = 0;
  #openings = 0;
  #openUntilMs = 0;
  #pausedUntilMs = 0;
  #probing = false;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  admit(): void {
    const now = this.#options.clock.now();
    if (now < this.#pausedUntilMs) {
      throw new ProviderError('throttled', 'The provider has asked to be left alone for a while.', {
        retryAfterSeconds: Math.ceil((this.#pausedUntilMs - now) / 1000),
      });
    }
    if (this.state === 'open' && now >= this.#openUntilMs) this.#change('half_open');
    if (this.state === 'open' || this.#probing) {
      throw new ProviderError('unavailable', 'The provider fails repeatedly and is left alone.');
    }
    this.#probing = this.state === 'half_open';
  }

  endProbe(): void {
    this.#probing = false;
  }

  succeed(): void {
    this.#failures = 0;
    this.#openings = 0;
    this.#change('closed');
  }

  fail(error: ProviderError): void {
    switch (error.kind) {
      case 'missing':
      case 'ambiguous':
        this.succeed();
        return;
      case 'throttled':
        this.#pause(error.retryAfterSeconds ?? defaultPauseSeconds);
        return;
      case 'unavailable':
      case 'malformed':
        this.#failures += 1;
        if (this.state === 'half_open' || this.#failures >= this.#options.failures) this.#open();
    }
  }

  #pause(seconds: number): void {
    this.#pausedUntilMs = this.#options.clock.now() + Math.min(seconds * 1000, maxPauseMs);
  }

  #open(): void {
    const { clock, openMs, maxOpenMs } = this.#options;
    this.#openUntilMs = clock.now() + Math.min(openMs * 2 ** this.#openings, maxOpenMs);
    this.#openings += 1;
    this.#change('open');
  }

  #change(next: BreakerState): void {
    if (next === this.state) return;
    this.state = next;
    this.#options.onChange(next);
  }
}
