import {
  type BreakerHold,
  CircuitBreaker,
  type CircuitBreakerOptions,
  type Verdict,
} from '../lib/breaker.ts';
import { HttpFailure } from '../lib/http/http-client.ts';
import { Problem } from '../lib/problem.ts';
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
  /** Called with the error of a rate-limited call. Default: the breaker pauses. */
  readonly onThrottled?: (error: ProviderError) => void;
}

export interface BreakerCall {
  readonly signal: AbortSignal;
  /** Key of the requested resource. Repeated `malformed` responses for it count as one failure. */
  readonly subject: string;
  /** Called if the call fails, unless its error says nothing about the source. */
  readonly onFailure?: (failure: JudgedFailure) => void;
}

export type ProviderBreaker = CircuitBreaker<BreakerCall>;

/** Evidence of a failed call about its source. Each error is judged once, for all who need it. */
export interface JudgedFailure {
  /** Error of the call; `null` for a defect of Perch. */
  readonly error: ProviderError | null;
  /** Whether the source failed. A missing post or a refused search text is an answer. */
  readonly isOutage: boolean;
  /** Whether the source could be reached. `unknown`: a host that a caller names may not exist. */
  readonly contact: 'answered' | 'failed' | 'unreachable' | 'unknown';
  readonly verdict: Verdict;
}

/**
 * Creates the circuit breaker of a provider or, with `host`, of one host. It pauses after a
 * rate-limited response. `run` throws ProviderError `unavailable` if open, `throttled` if paused.
 */
export function createProviderBreaker({ host, onThrottled, ...options }: ProviderBreakerOptions) {
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
  const pause = onThrottled ?? ((error: ProviderError) => breaker.pause(toPauseMs(error)));
  const judge = (thrown: unknown, call: BreakerCall): Verdict => {
    if (thrown instanceof ProviderError && thrown.kind === 'throttled') pause(thrown);
    // A Problem means that Perch refused the request, and the caller or the deadline may abort it.
    if (thrown instanceof Problem || call.signal.aborted) return 'unknown';
    const failure = judgeFailure(thrown, call.subject);
    call.onFailure?.(failure);
    return isProviderWide && failure.error?.isProviderWide === false ? 'works' : failure.verdict;
  };
  const breaker = new CircuitBreaker<BreakerCall>({ ...options, refuse, judge });
  return breaker;
}

function judgeFailure(error: unknown, subject: string): JudgedFailure {
  if (!(error instanceof ProviderError)) {
    return { error: null, isOutage: true, contact: 'failed', verdict: 'unknown' };
  }
  const isOutage = ['throttled', 'unavailable', 'malformed'].includes(error.kind);
  return { error, isOutage, contact: contactOf(error), verdict: verdictOf(error, subject) };
}

function contactOf({ kind, isUnreachable, isProviderWide, cause }: ProviderError) {
  if (isUnreachable) return 'unreachable';
  if (kind === 'missing' || kind === 'rejected') return 'answered';
  return cause instanceof HttpFailure || !isProviderWide ? 'unknown' : 'failed';
}

function verdictOf({ kind, isUnsupported }: ProviderError, subject: string): Verdict {
  if (isUnsupported) return 'works';
  if (kind === 'malformed') return { failure: subject };
  return kind === 'unavailable' ? { failure: null } : 'works';
}
