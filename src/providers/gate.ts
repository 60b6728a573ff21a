import type { Clock } from '../core/clock.ts';
import { ProviderError } from '../platforms/provider-error.ts';

/** Pause in seconds after a throttle for which the upstream names none. */
export const defaultPauseSeconds = 30;

const maxPauseSeconds = 300;

/** Limits the pause that an upstream asks for to between 1 and 300 seconds. */
export function clampPause(seconds: number): number {
  return Math.min(Math.max(seconds, 1), maxPauseSeconds);
}

export interface BreakerOptions {
  readonly failures: number;
  readonly openMs: number;
  /** Longest time that it stays open; each opening in a row doubles the last. */
  readonly maxOpenMs: number;
}

export interface GateOptions extends BreakerOptions {
  readonly clock: Clock;
  readonly onChange?: (state: BreakerState) => void;
  /** The host that the gate is for. Default: the gate of a whole provider. */
  readonly host?: string;
}

/** `closed`: asked as usual; `open`: not asked; `half_open`: one query tries whether it is back. */
export type BreakerState = 'closed' | 'open' | 'half_open';

export interface Asking {
  readonly signal: AbortSignal;
  /** What is asked for. Unreadable answers about one subject count once: others may be readable. */
  readonly subject: string;
}

/**
 * A circuit breaker before a provider or one of its hosts, which also keeps the pause that a throttling
 * one asks for. Failures that are not general count only before a host. Each change of state begins an
 * epoch; outcomes of an earlier one change nothing.
 */
export class Gate {
  state: BreakerState = 'closed';
  readonly #options: GateOptions;
  #epoch = 0;
  readonly #failures = new Set<string>();
  #openings = 0;
  #openUntilMs = 0;
  #pausedUntilMs = 0;
  #probing = false;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Asks, or throws ProviderError: `unavailable` while it is open, `throttled` during a pause. */
  async run<Found>(ask: () => Promise<Found>, { signal, subject }: Asking): Promise<Found> {
    const epoch = this.#admit();
    try {
      const found = await ask();
      if (epoch === this.#epoch) this.#succeed();
      return found;
    } catch (error) {
      // An abort by the caller or by the read's own deadline says nothing of the provider.
      if (error instanceof ProviderError && !signal.aborted) this.#fail(error, subject, epoch);
      else if (epoch === this.#epoch) this.#probing = false; // the next query probes in its place
      throw error;
    }
  }

  pause({ retryAfterSeconds = defaultPauseSeconds }: ProviderError): void {
    const untilMs = this.#options.clock.now() + clampPause(retryAfterSeconds) * 1000;
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
  }

  #admit(): number {
    const { clock, host } = this.#options;
    const now = clock.now();
    const whose = host === undefined ? 'The provider' : `The server ${host}`;
    const isGeneral = host === undefined;
    if (now < this.#pausedUntilMs) {
      const message = `${whose} has asked to be left alone for a while.`;
      const retryAfterSeconds = Math.ceil((this.#pausedUntilMs - now) / 1000);
      throw new ProviderError('throttled', message, { retryAfterSeconds, isGeneral });
    }
    if (this.state === 'open' && now >= this.#openUntilMs) this.#change('half_open');
    if (this.state === 'open' || this.#probing) {
      const message = `${whose} fails repeatedly and is left alone for a while.`;
      throw new ProviderError('unavailable', message, { isGeneral });
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
    const isOwn = error.isGeneral || host !== undefined;
    if (error.kind === 'throttled' && isOwn) this.pause(error);
    if (epoch !== this.#epoch) return;
    const isOutage = error.kind === 'unavailable' || error.kind === 'malformed';
    if (!isOwn || !isOutage) {
      this.#succeed();
      return;
    }
    this.#failures.add(error.kind === 'malformed' ? subject : `failure ${this.#failures.size}`);
    if (this.state === 'half_open' || this.#failures.size >= failures) this.#open();
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
    this.#epoch += 1;
    this.#probing = false;
    this.#failures.clear();
    this.#options.onChange?.(next);
  }
}
