import { hash } from 'node:crypto';
import * as z from 'zod';
import { toIsoSeconds } from '../../lib/clock.ts';
import type { Random } from '../../lib/random.ts';

const label = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  // Lone surrogates (Cs) cannot be stored as UTF-8; the other characters would break a table of
  // keys.
  .regex(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u, 'must be one line without control characters')
  .describe('Label by which people recognize the key, on one line.');

/** Schema of a key's units per time window; `null` selects the server's default. */
const allowance = z
  .int('must be a whole number from 1 to 1000000')
  .min(1, 'must be a whole number from 1 to 1000000')
  .max(1_000_000, 'must be a whole number from 1 to 1000000')
  .nullable()
  .describe(
    'Number of units that the key may spend in a time window; null for the server’s default.',
  );

const notes = z
  .string()
  .max(2000, 'must have at most 2000 characters')
  .regex(/^(?:[^\p{Cc}\p{Cs}]|[\t\n\r])*$/u, 'must be text without control characters')
  .nullable()
  .describe('Notes of the operator about the key; null for none.');

/** Schema of a new API key. Rejects unknown fields, so that operators notice misspelt names. */
export const newKey = z
  .strictObject({ label, allowance: allowance.optional(), notes: notes.optional() })
  .meta({ examples: [{ label: 'Ada’s crawler' }] });

export type NewKey = z.output<typeof newKey>;

/** Schema of changes to an API key. Omitted fields stay unchanged. */
export const keyChanges = z
  .strictObject({
    enabled: z
      .boolean('must be true or false')
      .optional()
      .describe('Whether Perch accepts requests with the key.'),
    label: label.optional(),
    allowance: allowance.optional(),
    notes: notes.optional(),
  })
  .meta({ examples: [{ allowance: 1200 }] });

export type KeyChanges = z.output<typeof keyChanges>;

/** Stored fields of an API key, without its hash. */
export interface KeyRecord {
  /** Identifier: 12 random hex digits, not derived from the key. */
  readonly id: string;
  readonly label: string;
  readonly enabled: boolean;
  /** Number of units per time window; `null` selects the server's default. */
  readonly allowance: number | null;
  readonly createdMs: number;
  /** Unix milliseconds, rounded down to a minute (see `toLastUse`); `null` if never used. */
  readonly lastUsedMs: number | null;
  readonly notes: string | null;
}

/** API key record with the SHA-256 hash of the key in hex. */
export type StoredKey = Readonly<{ hash: string; record: KeyRecord }>;

/** Returns a last use, rounded down to a minute, but never before the key's creation. */
export const toLastUse = (atMs: number | null, createdMs: number): number | null =>
  atMs === null ? null : Math.max(atMs, createdMs);

export function withChanges(record: KeyRecord, changes: KeyChanges): KeyRecord {
  const { label = record.label, enabled = record.enabled } = changes;
  const { allowance = record.allowance, notes = record.notes } = changes;
  return { ...record, label, enabled, allowance, notes };
}

function describeAs<Schema extends z.ZodType>(schema: Schema, { description }: z.ZodType): Schema {
  return schema.describe(description ?? '');
}

/** Schema of an API key's record in responses, without the key itself. */
export const keyMembers = z
  .object({
    id: z
      .string()
      .describe('Id of the key: 12 random hex digits. The id reveals nothing about the key.'),
    label: describeAs(z.string(), label),
    enabled: z.boolean().describe('Whether Perch accepts requests with the key.'),
    allowance: describeAs(z.number().int().nullable(), allowance),
    created_at: z.string().describe('Time at which the key was created: ISO 8601, UTC.'),
    last_used_at: z
      .string()
      .nullable()
      .describe(
        'Time of the last use, to the minute: ISO 8601, UTC; null if the key was never used.',
      ),
    notes: describeAs(z.string().nullable(), notes),
  })
  .meta({ id: 'Key' });

export function toKeyMembers(record: KeyRecord): z.output<typeof keyMembers> {
  const { createdMs, lastUsedMs, notes, ...same } = record;
  return {
    ...same,
    created_at: toIsoSeconds(createdMs),
    last_used_at: lastUsedMs === null ? null : toIsoSeconds(lastUsedMs),
    notes,
  };
}

const prefix = 'perch_';
const secretBytes = 32;
const secretLength = 43;
const shape = new RegExp(`^${prefix}[A-Za-z0-9_-]{${secretLength}}$`);

/** Creates an API key: a fixed prefix and 32 random bytes in base64url. */
export function createKey(random: Random): string {
  return prefix + random.bytes(secretBytes).toString('base64url');
}

/** Returns the SHA-256 hash of an API key in hex. The store of API keys contains only this hash. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/** Returns whether a text has the format of a key. Other texts need no lookup in the key store. */
export function isKeyShaped(text: string): boolean {
  return shape.test(text);
}
