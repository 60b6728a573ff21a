import { toIsoSeconds } from './clock.ts';

/** The deprecation and, not before it (RFC 8594 §3), the end of a route, in whole seconds. */
export interface Lifecycle {
  readonly deprecationMs: number;
  readonly sunsetMs: number;
}

/** The dates of both routes that are scheduled. */
export const scheduledLifecycle: Lifecycle = {
  deprecationMs: Date.UTC(2026, 8, 15),
  sunsetMs: Date.UTC(2027, 8, 15),
};

type LifecycleState = 'current' | 'announced' | 'deprecated' | 'past_sunset';

/** Returns the state of a route at an instant; a route without a lifecycle is current. */
export function lifecycleState(lifecycle: Lifecycle | null, nowMs: number): LifecycleState {
  if (lifecycle === null) return 'current';
  if (nowMs < lifecycle.deprecationMs) return 'announced';
  return nowMs < lifecycle.sunsetMs ? 'deprecated' : 'past_sunset';
}

/** Returns the values of the headers: a structured-field Date (RFC 9745 §2) and an HTTP-date (RFC 8594 §3). */
export function toHeaderDates({ deprecationMs, sunsetMs }: Lifecycle) {
  return {
    deprecation: `@${deprecationMs / 1000}`,
    // ECMAScript writes the very form of RFC 9110 §5.6.7 for the years 0 to 9999.
    sunset: new Date(sunsetMs).toUTCString(),
  };
}

/** Returns the dates as ISO 8601 with seconds, in UTC. */
export function toIsoDates({ deprecationMs, sunsetMs }: Lifecycle) {
  return { deprecation: toIsoSeconds(deprecationMs), sunset: toIsoSeconds(sunsetMs) };
}
