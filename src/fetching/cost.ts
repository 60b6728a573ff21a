import type { Caller, Client } from '../core/caller.ts';
import { HttpFailure } from '../core/http/http-client.ts';
import { Problem } from '../core/problem.ts';
import type { Reservation } from '../core/scheduling/ledger.ts';
import { ProviderError } from '../platforms/provider-error.ts';

/** Caller of a read. If the cache has no answer, the upstream requests are charged to this caller. */
export interface Requester {
  readonly signal: AbortSignal;
  /** Rate-limited caller that is charged for answers that are not cached; `undefined` if reads are free. */
  readonly caller?: Caller | undefined;
  /** Client whose limits the work counts against; `undefined` for the server's own work and the command line. */
  readonly client?: Client | undefined;
}

/** Charges the caller and runs `work`. If a source fails, refunds the charge. @throws Problem `rate_limited` */
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

/** Returns whether a failed read stays charged: a source answered, or the caller left, or the requested host hung. */
function keepsCharge(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted === true) return true;
  if (!(error instanceof Problem)) return false;
  return ['not_found', 'invalid_query'].includes(error.code) || isHangingHost(error.cause);
}

/** Returns whether the requested host timed out. Such reads are charged, because they occupy slots for a long time. */
function isHangingHost(cause: unknown): boolean {
  if (!(cause instanceof ProviderError) || cause.isProviderWide) return false;
  const failure = cause.cause;
  return failure instanceof HttpFailure && ['timeout', 'aborted'].includes(failure.kind);
}

/** Returns a function that counts response bytes in `reservation`. @throws Problem `overloaded` at its limit */
export function toTakeBytes(reservation: Reservation): (count: number) => void {
  return (count) => {
    if (!reservation.take(count))
      throw overloaded('Too many bytes of upstream responses are in flight.');
  };
}

export const overloaded = (detail: string): Problem => new Problem('overloaded', { detail });
