import type { Caller, Client } from '../lib/caller.ts';
import { HttpFailure } from '../lib/http/http-client.ts';
import { Problem } from '../lib/problem.ts';
import type { Reservation } from '../lib/scheduling/quotas.ts';
import type { TraceSpan } from '../lib/tracing/tracing.ts';
import { ProviderError } from '../normalize/provider-error.ts';

/** Origin of a read: the caller charged, the client whose limits apply, and the abort signal. */
export interface Requester {
  readonly signal: AbortSignal;
  /** Caller charged for each answer not from the cache; `undefined` if reads are free. */
  readonly caller?: Caller | undefined;
  /** Client whose limits apply; `undefined` for the server's own work and the command line. */
  readonly client?: Client | undefined;
  /** Span of the request; `undefined` if tracing is off. */
  readonly span?: TraceSpan | undefined;
}

/**
 * Charges a read to the caller, then runs `work`. Refunds the charge if `work` fails, unless
 * `keepsCharge` returns `true` for the error.
 * @throws Problem `rate_limited` if the caller's rate limit is exhausted
 */
export async function withCharge<Result>(
  requester: Requester | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  const charge = await requester?.caller?.spend();
  try {
    return await work();
  } catch (error) {
    if (!keepsCharge(error, requester?.signal)) charge?.refund();
    throw error;
  }
}

function keepsCharge(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted === true) return true;
  if (!(error instanceof Problem)) return false;
  return ['not_found', 'invalid_query'].includes(error.code) || isHangingHost(error.cause);
}

/** Returns whether the caller's host timed out. Charged, because other reads waited for it. */
function isHangingHost(cause: unknown): boolean {
  if (!(cause instanceof ProviderError) || cause.isProviderWide) return false;
  const failure = cause.cause;
  return failure instanceof HttpFailure && ['timeout', 'aborted'].includes(failure.kind);
}

/**
 * Returns a function that counts received bytes of a read in `reservation`. It throws Problem
 * `overloaded` above the total limit, but HttpFailure `over_budget` if this read alone exceeds it,
 * because waiting would not help.
 */
export function toTakeBytes(reservation: Reservation): (count: number) => void {
  return (count) => {
    if (reservation.take(count)) return;
    if (reservation.fitsAlone(count))
      throw overloaded('Too many bytes of upstream responses are in flight.');
    throw new HttpFailure('over_budget', 'One read receives more data than the limit allows.');
  };
}

export const overloaded = (detail: string): Problem => new Problem('overloaded', { detail });
