import { type ProviderContext, ProviderError } from '../provider.ts';

/** Tells of a failure where it is a throttle, so that the pause is kept whatever is answered. */
export function tellThrottled({ onThrottled }: ProviderContext, error: unknown): void {
  if (error instanceof ProviderError && error.kind === 'throttled') onThrottled?.(error);
}
