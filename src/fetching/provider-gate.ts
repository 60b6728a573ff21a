import type { Clock } from '../core/clock.ts';
import { clampPause, defaultPauseSeconds } from '../providers/pause.ts';
import { type Provider, ProviderError, type QueryKind } from '../providers/provider.ts';

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
  /** Keeps the pause that a throttling provider asks for, although it answered. */
  pause(error: ProviderError): void;
}

/**
 * The gates before one provider, one for each kind of query: an upstream whose search is broken may
 * read posts all the same. A pause holds for all of them.
 */
export interface Gates {
  of(kind: QueryKind): Gate;
  /** Keeps the pause that a throttling provider asks for, for every kind of query. */
  pause(error: ProviderError): void;
  /** The kinds of query whose breaker is not closed. */
  readonly broken: Readonly<Partial<Record<QueryKind, BreakerState>>>;
}

/** Creates the gates of a provider; `toOptions` says how the one for a kind of query behaves. */
export function createGates(
  { ask }: Pick<Provider, 'ask'>,
  toOptions: (kind: QueryKind) => GateOptions,
): Gates {
  // The keys of `ask` are kinds of query, by its type.
  const kinds = Object.keys(ask) as QueryKind[];
  const gates = new Map(kinds.map((kind) => [kind, createGate(toOptions(kind))]));
  const pause = (error: ProviderError): void => {
    if (!error.isGeneral) return; // it asks for a pause of one of its hosts, and keeps that itself
    for (const gate of gates.values()) gate.pause(error);
  };
  return {
    of: (kind) => {
      const gate = gates.get(kind);
      if (gate === undefined) throw new Error(`The provider does not answer ${kind}.`);
      return sharingPauses(gate, pause);
    },
    pause,
    get broken() {
      return Object.fromEntries(
        [...gates].flatMap(([kind, { state }]) => (state === 'closed' ? [] : [[kind, state]])),
      );
    },
  };
}

/** A throttle that the upstream tells one kind of query holds for all. */
function sharingPauses(gate: Gate, pause: Gates['pause']): Gate {
  return {
    get state() {
      return gate.state;
    },
    pause,
    run: (ask, signal) =>
      gate.run(async () => {
        try {
          return await ask();
        } catch (error) {
          if (error instanceof ProviderError && error.kind === 'throttled') pause(error);
          throw error;
        }
      }, signal),
  };
}

/** Creates a gate that is closed, so that the provider is asked. */
export function createGate(options: GateOptions): Gate {
  const breaker = new Breaker(options);
  return {
    get state() {
      return breaker.state;
    },
    pause: (error) => breaker.pause(error),
    run: async (ask, signal) => {
      const epoch = breaker.admit();
      try {
        const found = await ask();
        breaker.succeed(epoch);
        return found;
      } catch (error) {
        // Whoever left, or the read's own deadline, says nothing of the provider.
        if (error instanceof ProviderError && !signal.aborted) breaker.fail(error, epoch);
        else breaker.giveUp(epoch);
        throw error;
      }
    },
  };
}

/**
 * The state of one gate. Each change of state begins an epoch; the outcome of a query that was
 * admitted in an earlier one is old news and changes nothing.
 */
class Breaker {
  state: BreakerState = 'closed';
  readonly #options: GateOptions;
  #epoch = 0;
  #failures = 0;
  #openings = 0;
  #openUntilMs = 0;
  #pausedUntilMs = 0;
  #probing = false;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Lets a query through and gives its epoch, or throws. */
  admit(): number {
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
    return this.#epoch;
  }

  succeed(epoch: number): void {
    if (epoch !== this.#epoch) return;
    this.#failures = 0;
    this.#openings = 0;
    this.#change('closed');
  }

  fail(error: ProviderError, epoch: number): void {
    if (error.kind === 'throttled' && error.isGeneral) this.pause(error);
    if (epoch !== this.#epoch) return;
    if (!error.isGeneral) {
      this.succeed(epoch);
      return;
    }
    switch (error.kind) {
      case 'missing':
      case 'ambiguous':
      case 'rejected':
      case 'throttled':
        this.succeed(epoch);
        return;
      case 'unavailable':
      case 'malformed':
        this.#failures += 1;
        if (this.state === 'half_open' || this.#failures >= this.#options.failures) this.#open();
    }
  }

  /** Ends a query that says nothing; the next one probes in its place. */
  giveUp(epoch: number): void {
    if (epoch === this.#epoch) this.#probing = false;
  }

  pause({ retryAfterSeconds = defaultPauseSeconds }: ProviderError): void {
    const untilMs = this.#options.clock.now() + clampPause(retryAfterSeconds) * 1000;
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
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
    this.#failures = 0;
    this.#options.onChange(next);
  }
}
