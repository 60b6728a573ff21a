import type { Caller, Client } from '../core/caller.ts';
import { HttpFailure } from '../core/http/http-client.ts';
import { Problem } from '../core/problem.ts';
import type { Reservation } from '../core/scheduling/ledger.ts';
import type { TraceSpan } from '../core/tracing/tracing.ts';
import { ProviderError } from '../platforms/provider-error.ts';

/**
 * Origin of a request to read posts or accounts: the caller that is charged, the client whose
 * limits apply, and the signal that aborts the read.
 */
export interface Requester {
  readonly signal: AbortSignal;
  /** Caller that is charged for each answer that does not come from the cache; `undefined` if reads are free. */
  readonly caller?: Caller | undefined;
  /**
   * Client (network address) whose limits apply to the read; `undefined` for the server's own work and the command
   * line.
   */
  readonly client?: Client | undefined;
  /** Span of the request; `undefined` if tracing is off. */
  readonly span?: TraceSpan | undefined;
}

/**
 * Charges a read to the caller's rate limit, then runs `work`. Refunds the charge if `work` fails, unless
 * `keepsCharge` returns `true` for the error. @throws Problem `rate_limited` if the caller's rate limit is exhausted
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

/**
 * Returns whether a read failed because the server that the caller's URL or handle names timed out. Failed reads of
 * this kind are charged, because other reads had to wait for them.
 */
function isHangingHost(cause: unknown): boolean {
  if (!(cause instanceof ProviderError) || cause.isProviderWide) return false;
  const failure = cause.cause;
  return failure instanceof HttpFailure && ['timeout', 'aborted'].includes(failure.kind);
}

/**
 * Returns a function that adds `count` received response bytes of a read to the total in `reservation`. If the total
 * would exceed its limit, the function throws Problem `overloaded`; if this read alone exceeds the limit, it throws
 * HttpFailure `over_budget`, because waiting for other reads would not help.
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
