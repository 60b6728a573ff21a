import type { z } from 'zod';
import { toIsoSeconds } from '../core/clock.ts';
import type { Status } from '../model/post.ts';
import { refuse } from './lenient.ts';

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/;
const xTime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d [+-]\d{4} \d{4}$/;
const yearOneMs = -62_135_596_800_000;
const yearTenThousandMs = 253_402_300_800_000;

/** Returns Unix milliseconds in the years 1 to 9999 unchanged; otherwise `null`. */
export const checkTimeMs = (ms: number): number | null =>
  ms >= yearOneMs && ms < yearTenThousandMs ? ms : null;

/** Parses ISO 8601 and `Tue Oct 01 19:59:18 +0000 2024`; returns `null` for other formats. */
export const readTimeMs = (text: string): number | null =>
  isoTime.test(text) || xTime.test(text) ? checkTimeMs(Date.parse(text)) : null;

/** Converts a time to ISO 8601 in UTC with seconds; `null` if it cannot be parsed. */
export function toIsoTime(text: string | null): string | null {
  const ms = text === null ? null : readTimeMs(text);
  return ms === null ? null : toIsoSeconds(ms);
}

export function toCreated(ms: number): Pick<Status, 'created_at' | 'created_timestamp'> {
  return { created_at: toIsoSeconds(ms), created_timestamp: Math.floor(ms / 1000) };
}

/** Adds the creation time to a parsed post, or a validation error if it is `null`. */
export function withCreatedMs<Row extends object>(
  row: Row,
  createdMs: number | null,
  context: z.RefinementCtx,
): Row & { readonly createdMs: number } {
  return createdMs === null ? refuseTime(context) : { ...row, createdMs };
}

export function refuseTime(context: z.RefinementCtx): never {
  return refuse(context, 'There is no readable time.');
}
