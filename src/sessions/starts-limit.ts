import type { Clock } from '../core/clock.ts';
import { Problem } from '../core/problem.ts';

/** Limits how often one caller starts sessions. */
export interface StartsLimit {
  /** @throws Problem `rate_limited` with the exact wait */
  spend(caller: string): void;
}

/** How often. */
export interface StartsLimitOptions {
  readonly perMinute: number;
  /** How many starts may come at once. */
  readonly burst: number;
  readonly clock: Clock;
}

/** The most callers that are remembered; those who could start a burst again need not be. */
const maxCallers = 100_000;

/**
 * Creates the limit: a bucket of `burst` starts for each caller, which `perMinute` fill again. Of a
 * bucket only the instant is kept at which it will be full (the generic cell rate algorithm).
 */
export function createStartsLimit({ perMinute, burst, clock }: StartsLimitOptions): StartsLimit {
  const fullAtMs = new Map<string, number>();
  const oneMs = 60_000 / perMinute;
  const forgetFull = (nowMs: number): void => {
    for (const [caller, atMs] of fullAtMs) if (atMs <= nowMs) fullAtMs.delete(caller);
    const [oldest] = fullAtMs.keys();
    if (fullAtMs.size >= maxCallers && oldest !== undefined) fullAtMs.delete(oldest);
  };
  return {
    spend: (caller) => {
      const nowMs = clock.now();
      const next = Math.max(nowMs, fullAtMs.get(caller) ?? nowMs) + oneMs;
      const waitMs = next - burst * oneMs - nowMs;
      if (waitMs > 0) throw tooOften(perMinute, Math.ceil(waitMs / 1000));
      if (fullAtMs.size >= maxCallers && !fullAtMs.has(caller)) forgetFull(nowMs);
      fullAtMs.set(caller, next);
    },
  };
}

function tooOften(perMinute: number, retryAfterSeconds: number): Problem {
  return new Problem('rate_limited', {
    detail: `One caller may start ${perMinute} sessions a minute.`,
    retryAfterSeconds,
  });
}
