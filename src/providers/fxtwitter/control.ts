import type { Clock } from '../../core/clock.ts';
import { HttpFailure, type RequestContext } from '../../core/http/http-client.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { toProviderError } from '../failure.ts';
import type { ProviderContext } from '../provider.ts';
import { tellThrottled } from './throttle.ts';

/**
 * The second witness of an account's absence: an outage of X is answered like an account that does
 * not exist (FxTwitter, section 7), so a well-known account is asked for through the same endpoint.
 */
export interface Control {
  /** Remembers that the endpoint has given an account just now, which speaks for it for 60 s. */
  noteSuccess(): void;
  /**
   * Gives what it means that `handle` was not found: `missing` where the endpoint gives accounts,
   * else `ambiguous`, or `throttled` where that kept it from being known. Those who ask at the same
   * time share one control read.
   */
  judge(handle: string, context: ProviderContext): Promise<ProviderError>;
}

/** What a control is made from. */
export interface ControlOptions {
  readonly clock: Clock;
  /** Tells whether the endpoint gives an account; throws ProviderError where it fails. */
  readonly answers: (handle: string, context: RequestContext) => Promise<boolean>;
}

/**
 * X's own accounts, which exist as long as X does; both are among the profiles recorded from FxEmbed's
 * and twscrape's public test suites (fixtures: `fxtwitter/profile`). The second is for the first.
 */
const controlHandles = ['x', 'xdevelopers'] as const;

type ControlHandle = (typeof controlHandles)[number];

/** How long a success speaks for the endpoint. */
const freshMs = 60_000;

/** A control read that has ended; `failure` is null where the endpoint answered without an account. */
type Outcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly failure: ProviderError | null };

/** Creates a control that has seen no success yet. */
export function createControl({ clock, answers }: ControlOptions): Control {
  const flights = new Map<ControlHandle, Promise<Outcome>>();
  let succeededMs = Number.NEGATIVE_INFINITY;
  const noteSuccess = () => {
    succeededMs = clock.now();
  };

  const look = async (handle: ControlHandle, asker: RequestContext): Promise<Outcome> => {
    try {
      // It goes on without its callers: the client bounds it, and its success serves the next miss.
      const { signal } = new AbortController();
      if (!(await answers(handle, { ...asker, signal }))) return noAnswer;
      noteSuccess();
      return { ok: true };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return { ok: false, failure: error };
    } finally {
      flights.delete(handle);
    }
  };

  const share = (handle: ControlHandle, asker: RequestContext): Promise<Outcome> => {
    const flight = flights.get(handle) ?? look(handle, asker);
    flights.set(handle, flight);
    return flight;
  };

  return {
    noteSuccess,
    judge: async (handle, context) => {
      const ageMs = clock.now() - succeededMs;
      if (ageMs >= 0 && ageMs <= freshMs) return toVerdict({ ok: true }, context);
      return toVerdict(
        await untilAborted(share(controlFor(handle), context), context.signal),
        context,
      );
    },
  };
}

const noAnswer: Outcome = { ok: false, failure: null };

function controlFor(handle: string): ControlHandle {
  const [first, second] = controlHandles;
  return handle.toLowerCase() === first ? second : first;
}

function toVerdict(outcome: Outcome, context: ProviderContext): ProviderError {
  if (outcome.ok) return new ProviderError('missing', 'There is no such account.');
  const { failure } = outcome;
  tellThrottled(context, failure);
  if (failure?.kind === 'throttled') return failure;
  const message = 'The source has no such account, or could not look for it.';
  return new ProviderError('ambiguous', message, { cause: failure });
}

/** Waits for a control read for as long as the caller waits. */
function untilAborted(outcome: Promise<Outcome>, signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const stop = () =>
      reject(toProviderError(new HttpFailure('aborted', 'Nobody waits for the control read.')));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    outcome.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
