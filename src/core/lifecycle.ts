import { toIsoSeconds } from './clock.ts';

/** When a route is deprecated and when it may stop to answer: instants in whole seconds. */
export interface Lifecycle {
  readonly deprecationMs: number;
  /** Never before the deprecation (RFC 8594 §3). */
  readonly sunsetMs: number;
}

/** Where a route is in its life. */
export type LifecycleState = 'current' | 'announced' | 'deprecated' | 'past_sunset';

/** The dates of both routes that are scheduled. */
export const scheduledLifecycle: Lifecycle = {
  deprecationMs: Date.UTC(2026, 8, 15),
  sunsetMs: Date.UTC(2027, 8, 15),
};

/** Gives the state of a route at an instant; a route without a lifecycle is current. */
export function lifecycleState(lifecycle: Lifecycle | null, nowMs: number): LifecycleState {
  if (lifecycle === null) return 'current';
  if (nowMs < lifecycle.deprecationMs) return 'announced';
  return nowMs < lifecycle.sunsetMs ? 'deprecated' : 'past_sunset';
}

/** The dates of a lifecycle as text. */
export interface LifecycleDates {
  readonly deprecation: string;
  readonly sunset: string;
}

/** Gives the values of the headers: a structured-field Date (RFC 9745 §2) and an HTTP-date (RFC 8594 §3). */
export function toHeaderDates({ deprecationMs, sunsetMs }: Lifecycle): LifecycleDates {
  return {
    deprecation: `@${deprecationMs / 1000}`,
    // ECMAScript writes the very form of RFC 9110 §5.6.7 for the years 0 to 9999.
    sunset: new Date(sunsetMs).toUTCString(),
  };
}

/** Gives the dates as ISO 8601 with seconds, in UTC. */
export function toIsoDates({ deprecationMs, sunsetMs }: Lifecycle): LifecycleDates {
  return { deprecation: toIsoSeconds(deprecationMs), sunset: toIsoSeconds(sunsetMs) };
}
