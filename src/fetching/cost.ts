import type { Caller, Client } from '../core/caller.ts';
import { HttpFailure } from '../core/http/http-client.ts';
import { Problem } from '../core/problem.ts';
import type { Reservation } from '../core/scheduling/ledger.ts';
import { ProviderError } from '../platforms/provider-error.ts';

/** The caller that an answer is fetched for. The members are read only if the cache has no answer. */
export interface Waiting {
  readonly signal: AbortSignal;
  /** Pays for what the cache does not answer; absent if reads cost nothing. */
  readonly caller?: Caller | undefined;
  /** The address that the work is counted under; absent for the server's own and the command line's. */
  readonly client?: Client | undefined;
}

/**
 * Runs work that costs the caller a unit, and refunds it if it fails by no fault of the caller. Throws
 * Problem `rate_limited`, and what `work` throws.
 */
export async function atCost<Result>(
  waiting: Waiting | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  const spending = await waiting?.caller?.spend();
  try {
    return await work();
  } catch (error) {
    if (!isCostly(error, waiting?.signal)) spending?.refund();
    throw error;
  }
}

/** Returns whether a failed read keeps its unit: it was answered, its caller left, or chose a host that hangs. */
function isCostly(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted === true) return true;
  if (!(error instanceof Problem)) return false;
  return ['not_found', 'invalid_query'].includes(error.code) || isHangingHost(error.cause);
}

/** A host that the caller named did not answer in time. Otherwise holding slots would cost nothing. */
function isHangingHost(cause: unknown): boolean {
  if (!(cause instanceof ProviderError) || cause.isProviderWide) return false;
  const failure = cause.cause;
  return failure instanceof HttpFailure && ['timeout', 'aborted'].includes(failure.kind);
}

/** Creates `RequestContext.takeBytes`, whose bytes stay taken until the hold is released. */
export function toTakeBytes(hold: Reservation): (count: number) => void {
  return (count) => {
    if (!hold.take(count)) throw overloaded('Too many bytes of upstream responses are in flight.');
  };
}

export function overloaded(detail: string): Problem {
  return new Problem('overloaded', { detail });
}
