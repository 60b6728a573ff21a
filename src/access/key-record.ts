import { z } from 'zod';
import { toIsoSeconds } from '../core/clock.ts';
import { keyAllowance, keyLabel, keyNotes } from './key-fields.ts';

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

/** What is told back has the meaning of what was given, but not its checks. */
function told<Schema extends z.ZodType>(schema: Schema, given: z.ZodType): Schema {
  return schema.describe(given.description ?? '');
}

/** A key on the wire, without the key itself (decisions section 6). */
export const keyMembers = z
  .object({
    id: z.string().describe('12 hex digits; says nothing of the key.'),
    label: told(z.string(), keyLabel),
    enabled: z.boolean().describe('Whether the key is accepted.'),
    allowance: told(z.number().int().nullable(), keyAllowance),
    created_at: z.string().describe('ISO 8601, UTC.'),
    last_used_at: z
      .string()
      .nullable()
      .describe('ISO 8601, UTC, to the minute; null where it was never used.'),
    notes: told(z.string().nullable(), keyNotes),
  })
  .meta({ id: 'Key' });

/** A key on the wire. */
export type KeyMembers = z.output<typeof keyMembers>;

/** Gives the members of a key on the wire. */
export function toKeyMembers(record: KeyRecord): KeyMembers {
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
