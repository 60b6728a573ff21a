import { type Clock, createSteadyClock } from '../core/clock.ts';
import { ProviderError } from '../platforms/provider-error.ts';

/** Seconds without requests to an upstream after a rate-limited response without `Retry-After`. */
export const defaultPauseSeconds = 30;

const maxPauseSeconds = 300;

/** Clamps the pause that an upstream server demands to a value from 1 to 300 seconds. */
export const clampPause = (seconds: number): number =>
  Math.min(Math.max(seconds, 1), maxPauseSeconds);

/** Returns the number of milliseconds for which a `throttled` error pauses a provider. */
export const toPauseMs = ({ retryAfterSeconds = defaultPauseSeconds }: ProviderError): number =>
  clampPause(retryAfterSeconds) * 1000;

export interface BreakerOptions {
  /** Number of consecutive failures that open the circuit breaker. */
  readonly failures: number;
  /** Milliseconds it stays open. Doubles at each reopening without a success, up to `maxOpenMs`. */
  readonly openMs: number;
  readonly maxOpenMs: number;
}

export interface CircuitBreakerOptions extends BreakerOptions {
  readonly clock: Clock;
  /** Called with each new state. `failure`: absent if another instance reported it. */
  readonly onChange?: (state: BreakerState, failure?: ProviderError) => void;
  /** Called when failures open the breaker, with the milliseconds for which it stays open. */
  readonly onOpen?: (openMs: number) => void;
  /** Host whose requests the breaker controls. If absent, all requests of a provider. */
  readonly host?: string;
}

/** State: passes queries (`closed`), rejects them (`open`), or tests the server (`half_open`). */
export type BreakerState = 'closed' | 'open' | 'half_open';

/** Reason why a circuit breaker rejects queries, and the time until it admits one. */
export interface BreakerHold {
  readonly reason: 'rate limit' | 'failures';
  /** Milliseconds until a query may pass; 0 if a single test query is admitted or in flight. */
  readonly waitMs: number;
}

export interface BreakerCall {
  readonly signal: AbortSignal;
  /** Key of the requested resource. Repeated `malformed` responses for it count as one failure. */
  readonly subject: string;
}

/**
 * Circuit breaker of a provider or, with `host`, of one host. Opens after repeated failures, and
 * pauses after a rate-limited response. A query during which the breaker opens or closes counts
 * neither as a success nor as a failure, but can still cause a pause.
 */
export class CircuitBreaker {
  state: BreakerState = 'closed';
  readonly #options: CircuitBreakerOptions;
  #epoch = 0;
  readonly #failures = new Set<string>();
  #openings = 0;
  #openUntilMs = 0;
  #pausedUntilMs = 0;
  #probing = false;

  constructor(options: CircuitBreakerOptions) {
    this.#options = { ...options, clock: createSteadyClock(options.clock) };
  }

  /** Runs a query. Throws ProviderError `unavailable` if open, `throttled` during a pause. */
  async run<Found>(ask: () => Promise<Found>, { signal, subject }: BreakerCall): Promise<Found> {
    const epoch = this.#admit();
    try {
      const found = await ask();
      if (epoch === this.#epoch) this.#succeed();
      return found;
    } catch (error) {
      // An abort by the caller or by the read's deadline is not a failure of the provider.
      if (error instanceof ProviderError && !signal.aborted) this.#fail(error, subject, epoch);
      else if (epoch === this.#epoch) this.#probing = false; // the next query becomes the probe
      throw error;
    }
  }

  /** Rejects all queries for the time in a `throttled` error, by default 30 seconds. */
  pause(error: ProviderError): void {
    const untilMs = this.#options.clock.now() + toPauseMs(error);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
  }

  /** Opens a closed breaker for `ms`, because the breaker of another instance has opened. */
  openFor(ms: number): void {
    if (this.state !== 'closed') return;
    this.#openUntilMs = this.#options.clock.now() + ms;
    this.#change('open');
  }

  /** Returns why it rejects queries or admits only a test; `null` if it admits all queries. */
  hold(): BreakerHold | null {
    const now = this.#options.clock.now();
    if (now < this.#pausedUntilMs)
      return { reason: 'rate limit', waitMs: this.#pausedUntilMs - now };
    if (this.state === 'closed') return null;
    return { reason: 'failures', waitMs: Math.max(0, this.#openUntilMs - now) };
  }

  #admit(): number {
    const { clock, host } = this.#options;
    const now = clock.now();
    const subject = host === undefined ? 'The provider' : `The server ${host}`;
    const isProviderWide = host === undefined;
    if (now < this.#pausedUntilMs) {
      const message = `${subject} limits the rate of requests, so Perch pauses its requests for a while.`;
      const retryAfterSeconds = Math.ceil((this.#pausedUntilMs - now) / 1000);
      throw new ProviderError('throttled', message, { retryAfterSeconds, isProviderWide });
    }
    if (this.state === 'open' && now >= this.#openUntilMs) this.#change('half_open');
    if (this.state === 'open' || this.#probing) {
      const message = `${subject} has failed repeatedly, so Perch pauses its requests for a while.`;
      throw new ProviderError('unavailable', message, { isProviderWide });
    }
    this.#probing = this.state === 'half_open';
    return this.#epoch;
  }

  #succeed(): void {
    this.#failures.clear();
    this.#openings = 0;
    this.#change('closed');
  }

  #fail(error: ProviderError, subject: string, epoch: number): void {
    const { failures, host } = this.#options;
    const isOwn = error.isProviderWide || host !== undefined;
    if (error.kind === 'throttled' && isOwn) this.pause(error);
    if (epoch !== this.#epoch) return;
    const isOutage = error.kind === 'unavailable' || error.kind === 'malformed';
    if (!isOwn || !isOutage) {
      this.#succeed();
      return;
    }
    this.#failures.add(error.kind === 'malformed' ? subject : `failure ${this.#failures.size}`);
    if (this.state === 'half_open' || this.#failures.size >= failures) this.#open(error);
  }

  #open(failure: ProviderError): void {
    const { clock, openMs, maxOpenMs, onOpen } = this.#options;
    const ms = Math.min(openMs * 2 ** this.#openings, maxOpenMs);
    this.#openUntilMs = clock.now() + ms;
    this.#openings += 1;
    this.#change('open', failure);
    onOpen?.(ms);
  }

  #change(next: BreakerState, failure?: ProviderError): void {
    if (next === this.state) return;
    this.state = next;
    this.#epoch += 1;
    this.#probing = false;
    this.#failures.clear();
    this.#options.onChange?.(next, failure);
  }
}
