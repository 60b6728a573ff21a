import { z } from 'zod';
import { toIsoSeconds } from '../core/clock.ts';
import type { Status } from '../model/post.ts';

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/;
const xTime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d [+-]\d{4} \d{4}$/;
const yearTenThousandMs = 253_402_300_800_000;

/** Gives back milliseconds that lie in the years 1970 to 9999; else null. */
export function checkTimeMs(ms: number): number | null {
  return ms >= 0 && ms < yearTenThousandMs ? ms : null;
}

/** Reads an ISO time, or `Tue Oct 01 19:59:18 +0000 2024`, as milliseconds; null when it is neither. */
export function readTimeMs(text: string): number | null {
  return isoTime.test(text) || xTime.test(text) ? checkTimeMs(Date.parse(text)) : null;
}

/** Gives a time as ISO 8601 UTC with seconds; null when it is none. */
export function toIsoTime(text: string | null): string | null {
  const ms = text === null ? null : readTimeMs(text);
  return ms === null ? null : toIsoSeconds(ms);
}

/** Gives the two fields that tell when a post was created. */
export function toCreated(ms: number): Pick<Status, 'created_at' | 'created_timestamp'> {
  return { created_at: toIsoSeconds(ms), created_timestamp: Math.floor(ms / 1000) };
}

/** Adds to a row of an upstream when it was created; one without a readable time is refused. */
export function withCreatedMs<Row extends object>(
  row: Row,
  createdMs: number | null,
  context: z.RefinementCtx,
): Row & { readonly createdMs: number } {
  return createdMs === null ? refuseTime(context) : { ...row, createdMs };
}

/** Refuses a row of an upstream that has no readable time. */
export function refuseTime(context: z.RefinementCtx): never {
  context.addIssue({ code: 'custom', message: 'There is no readable time.' });
  return z.NEVER;
}
