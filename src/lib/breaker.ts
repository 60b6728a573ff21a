import { type Clock, createSteadyClock } from './clock.ts';

export interface BreakerOptions {
  /** Number of consecutive failures that open the circuit breaker. */
  readonly failures: number;
  /** Milliseconds it stays open. Doubles at each reopening without a success, up to `maxOpenMs`. */
  readonly openMs: number;
  readonly maxOpenMs: number;
}

/** Meaning of an error: the source works, nothing, or a failure. Equal names count once. */
export type Verdict = 'works' | 'unknown' | { readonly failure: string | null };

export interface CircuitBreakerOptions<Call> extends BreakerOptions {
  readonly clock: Clock;
  /** Returns the error for calls that are not made. */
  readonly refuse: (hold: BreakerHold) => Error;
  /** Judges the error of a call. May call `pause`. */
  readonly judge: (error: unknown, call: Call) => Verdict;
  /** Called with each new state. `error`: the last failure; absent if another instance had it. */
  readonly onChange?: ((state: BreakerState, error?: unknown) => void) | undefined;
  /** Called when failures open the breaker, with the milliseconds for which it stays open. */
  readonly onOpen?: ((openMs: number) => void) | undefined;
}

/** State: passes calls (`closed`), refuses them (`open`), or tests the source (`half_open`). */
export type BreakerState = 'closed' | 'open' | 'half_open';

/** Reason why a circuit breaker refuses calls, and the time until it admits one. */
export interface BreakerHold {
  readonly reason: 'rate limit' | 'failures';
  /** Milliseconds until a call may pass; 0 if a single test call is admitted or in flight. */
  readonly waitMs: number;
}

/**
 * Circuit breaker of a source: a provider, a host or the language model. Opens after repeated
 * failures. A call during which it opens or closes counts neither as a success nor as a failure.
 */
export class CircuitBreaker<Call> {
  state: BreakerState = 'closed';
  readonly #options: CircuitBreakerOptions<Call>;
  #epoch = 0;
  readonly #failures = new Set<string>();
  #openings = 0;
  #openUntilMs = 0;
  #pausedUntilMs = 0;
  #probing = false;

  constructor(options: CircuitBreakerOptions<Call>) {
    this.#options = { ...options, clock: createSteadyClock(options.clock) };
  }

  /** Runs a call. Throws the error of `refuse` while the breaker is open or paused. */
  async run<Found>(make: () => Promise<Found>, call: Call): Promise<Found> {
    const epoch = this.#admit();
    try {
      const found = await make();
      if (epoch === this.#epoch) this.#succeed();
      return found;
    } catch (error) {
      const verdict = this.#options.judge(error, call);
      if (epoch === this.#epoch) this.#note(verdict, error);
      throw error;
    }
  }

  /** Refuses all calls for `ms`, because the source limits their rate. */
  pause(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#options.clock.now() + ms);
  }

  /** Opens a closed breaker for `ms`, because the breaker of another instance has opened. */
  openFor(ms: number): void {
    if (this.state !== 'closed') return;
    this.#openUntilMs = this.#options.clock.now() + ms;
    this.#change('open');
  }

  /** Returns why it refuses calls or admits only a test; `null` if it admits all calls. */
  hold(): BreakerHold | null {
    const now = this.#options.clock.now();
    if (now < this.#pausedUntilMs)
      return { reason: 'rate limit', waitMs: this.#pausedUntilMs - now };
    if (this.state === 'closed') return null;
    return { reason: 'failures', waitMs: Math.max(0, this.#openUntilMs - now) };
  }

  #admit(): number {
    const hold = this.hold();
    if (hold?.reason === 'rate limit') throw this.#options.refuse(hold);
    if (this.state === 'open' && hold?.waitMs === 0) this.#change('half_open');
    if (hold !== null && (this.state === 'open' || this.#probing)) throw this.#options.refuse(hold);
    this.#probing = this.state === 'half_open';
    return this.#epoch;
  }

  #succeed(): void {
    this.#failures.clear();
    this.#openings = 0;
    if (this.state !== 'closed') this.#change('closed');
  }

  #note(verdict: Verdict, error: unknown): void {
    if (verdict === 'works') this.#succeed();
    else if (verdict === 'unknown')
      this.#probing = false; // the next call becomes the probe
    else this.#fail(verdict.failure, error);
  }

  #fail(name: string | null, error: unknown): void {
    this.#failures.add(name ?? `failure ${this.#failures.size}`);
    if (this.state === 'half_open' || this.#failures.size >= this.#options.failures) {
      this.#open(error);
    }
  }

  #open(error: unknown): void {
    const { clock, openMs, maxOpenMs, onOpen } = this.#options;
    const ms = Math.min(openMs * 2 ** this.#openings, maxOpenMs);
    this.#openUntilMs = clock.now() + ms;
    this.#openings += 1;
    this.#change('open', error);
    onOpen?.(ms);
  }

  #change(next: BreakerState, error?: unknown): void {
    this.state = next;
    this.#epoch += 1;
    this.#probing = false;
    this.#failures.clear();
    this.#options.onChange?.(next, error);
  }
}
