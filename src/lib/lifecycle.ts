import { toIsoSeconds } from './clock.ts';

/** Dates of deprecation and removal in whole seconds. Removal never comes first (RFC 8594 §3). */
export interface Lifecycle {
  readonly deprecationMs: number;
  readonly sunsetMs: number;
}

export const scheduledLifecycle: Lifecycle = {
  deprecationMs: Date.UTC(2026, 8, 15),
  sunsetMs: Date.UTC(2027, 8, 15),
};

type LifecycleState = 'current' | 'announced' | 'deprecated' | 'past_sunset';

/** Returns a route's state. `lifecycle` is `null` if no deprecation is scheduled. */
export function lifecycleState(lifecycle: Lifecycle | null, nowMs: number): LifecycleState {
  if (lifecycle === null) return 'current';
  if (nowMs < lifecycle.deprecationMs) return 'announced';
  return nowMs < lifecycle.sunsetMs ? 'deprecated' : 'past_sunset';
}

/** Returns the values of the headers `Deprecation` (RFC 9745 §2) and `Sunset` (RFC 8594 §3). */
export function toHeaderDates({ deprecationMs, sunsetMs }: Lifecycle) {
  return {
    deprecation: `@${deprecationMs / 1000}`,
    // `toUTCString` has the format of an HTTP-date (RFC 9110 §5.6.7) for the years 0 to 9999.
    sunset: new Date(sunsetMs).toUTCString(),
  };
}

export function toIsoDates({ deprecationMs, sunsetMs }: Lifecycle) {
  return { deprecation: toIsoSeconds(deprecationMs), sunset: toIsoSeconds(sunsetMs) };
}
