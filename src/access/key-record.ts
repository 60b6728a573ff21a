import { toIsoSeconds } from '../core/clock.ts';

/** What is known of a key. The key itself is not. */
export interface KeyRecord {
  /** 12 hex digits; says nothing of the key. */
  readonly id: string;
  readonly label: string;
  readonly enabled: boolean;
  /** Units in a window; null for the server's default. */
  readonly allowance: number | null;
  /** Unix milliseconds. */
  readonly createdMs: number;
  /** Unix milliseconds, to the minute; null where it was never used. */
  readonly lastUsedMs: number | null;
  readonly notes: string | null;
}

/** Gives the members of a key on the wire (decisions section 6). */
export function toKeyMembers(record: KeyRecord) {
  const { id, label, enabled, allowance, createdMs, lastUsedMs, notes } = record;
  return {
    id,
    label,
    enabled,
    allowance,
    created_at: toIsoSeconds(createdMs),
    last_used_at: lastUsedMs === null ? null : toIsoSeconds(lastUsedMs),
    notes,
  };
}
