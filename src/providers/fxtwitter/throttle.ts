import { ProviderError } from '../../platforms/provider-error.ts';
import type { ProviderContext } from '../provider.ts';

/** Tells of a failure where it is a throttle, so that the pause is kept whatever is answered. */
export function tellThrottled({ onThrottled }: ProviderContext, error: unknown): void {
  if (error instanceof ProviderError && error.kind === 'throttled') onThrottled?.(error);
}
