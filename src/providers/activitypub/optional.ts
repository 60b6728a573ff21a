import { Problem } from '../../lib/problem.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { reportThrottle } from '../failure.ts';
import { toHostFailure } from '../hosts.ts';
import type { ProviderContext } from '../provider.ts';

/**
 * Runs a read of a part of an answer, and returns its error instead of throwing it. A limit of this
 * server, which throws a Problem, also costs only the part.
 */
export async function attempt<Found>(
  context: ProviderContext,
  read: () => Promise<Found>,
): Promise<Found | ProviderError> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Problem) {
      return toHostFailure('unavailable', error.message, { cause: error });
    }
    if (!(error instanceof ProviderError)) throw error;
    reportThrottle(context, error);
    return error;
  }
}

/** Runs a read of a part of an answer, and returns `null` if it fails. */
export async function readOrNull<Found>(context: ProviderContext, read: () => Promise<Found>) {
  const found = await attempt(context, read);
  return found instanceof ProviderError ? null : found;
}
