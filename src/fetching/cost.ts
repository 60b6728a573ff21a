import type { Caller, Client } from '../core/caller.ts';
import { HttpFailure } from '../core/http/http-client.ts';
import { Problem } from '../core/problem.ts';
import type { Reservation } from '../core/scheduling/ledger.ts';
import { ProviderError } from '../platforms/provider-error.ts';

/** Caller that an answer is fetched for. Its members are read only if the cache has no answer. */
export interface Requester {
  readonly signal: AbortSignal;
  /** Rate-limited caller that is charged for answers that are not cached; absent if reads are free. */
  readonly caller?: Caller | undefined;
  /** Client address that the work counts against; absent for the server's own work and the command line. */
  readonly client?: Client | undefined;
}

/** Charges the caller a unit; refunds the unit if a source or the server fails. @throws Problem `rate_limited` */
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

/** Returns whether a failed read is charged: a source answered, the caller left, or a host in the request timed out. */
function keepsCharge(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted === true) return true;
  if (!(error instanceof Problem)) return false;
  return ['not_found', 'invalid_query'].includes(error.code) || isHangingHost(error.cause);
}

/** Returns whether a host in the request timed out. Without a charge, callers could occupy slots for free. */
function isHangingHost(cause: unknown): boolean {
  if (!(cause instanceof ProviderError) || cause.isProviderWide) return false;
  const failure = cause.cause;
  return failure instanceof HttpFailure && ['timeout', 'aborted'].includes(failure.kind);
}

/** Creates `RequestContext.takeBytes`, which counts bytes until the reservation is released. */
export function toTakeBytes(reservation: Reservation): (count: number) => void {
  return (count) => {
    if (!reservation.take(count))
      throw overloaded('Too many bytes of upstream responses are in flight.');
  };
}

export const overloaded = (detail: string): Problem => new Problem('overloaded', { detail });
