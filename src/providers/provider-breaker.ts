import {
  type BreakerHold,
  CircuitBreaker,
  type CircuitBreakerOptions,
  type Verdict,
} from '../lib/breaker.ts';
import { ProviderError } from '../normalize/provider-error.ts';

/** Seconds without requests to an upstream after a rate-limited response without `Retry-After`. */
export const defaultPauseSeconds = 30;

const maxPauseSeconds = 300;

/** Clamps the pause that an upstream server demands to a value from 1 to 300 seconds. */
export const clampPause = (seconds: number): number =>
  Math.min(Math.max(seconds, 1), maxPauseSeconds);

/** Returns the number of milliseconds for which a `throttled` error pauses a provider. */
export const toPauseMs = ({ retryAfterSeconds = defaultPauseSeconds }: ProviderError): number =>
  clampPause(retryAfterSeconds) * 1000;

export interface ProviderBreakerOptions
  extends Omit<CircuitBreakerOptions<BreakerCall>, 'judge' | 'refuse'> {
  /** Host whose requests the breaker controls. If absent, all requests of a provider. */
  readonly host?: string;
}

export interface BreakerCall {
  readonly signal: AbortSignal;
  /** Key of the requested resource. Repeated `malformed` responses for it count as one failure. */
  readonly subject: string;
}

export type ProviderBreaker = CircuitBreaker<BreakerCall>;

/**
 * Creates the circuit breaker of a provider or, with `host`, of one host. It pauses after a
 * rate-limited response. `run` throws ProviderError `unavailable` if open, `throttled` if paused.
 */
export function createProviderBreaker({ host, ...options }: ProviderBreakerOptions) {
  const source = host === undefined ? 'The provider' : `The server ${host}`;
  const isProviderWide = host === undefined;
  const refuse = ({ reason, waitMs }: BreakerHold) => {
    const isThrottled = reason === 'rate limit';
    const why = isThrottled ? 'limits the rate of requests' : 'has failed repeatedly';
    const message = `${source} ${why}, so Perch pauses its requests for a while.`;
    const retryAfterSeconds = isThrottled ? Math.ceil(waitMs / 1000) : undefined;
    const kind = isThrottled ? 'throttled' : 'unavailable';
    return new ProviderError(kind, message, { retryAfterSeconds, isProviderWide });
  };
  const judge = (error: unknown, { signal, subject }: BreakerCall): Verdict => {
    // An abort by the caller or by the read's deadline is not a failure of the provider.
    if (!(error instanceof ProviderError) || signal.aborted) return 'unknown';
    if (error.isUnsupported || (isProviderWide && !error.isProviderWide)) return 'works';
    if (error.kind === 'throttled') breaker.pause(toPauseMs(error));
    return toVerdict(error, subject);
  };
  const breaker = new CircuitBreaker<BreakerCall>({ ...options, refuse, judge });
  return breaker;
}

function toVerdict({ kind }: ProviderError, subject: string): Verdict {
  if (kind === 'malformed') return { failure: subject };
  return kind === 'unavailable' ? { failure: null } : 'works';
}
