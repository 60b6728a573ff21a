import { z } from 'zod';

/** The name that people know a key by: 1 to 100 characters on one line, trimmed. */
export const keyLabel = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 characters')
  // Lone surrogates (Cs) cannot be stored as UTF-8; the rest would break a table of keys.
  .regex(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u, 'must be one line without control characters')
  .describe('The name that people know the key by, on one line.');

/** The units that a key has in a window; null for the server's default. */
export const keyAllowance = z
  .int('must be a whole number from 1 to 1000000')
  .min(1, 'must be a whole number from 1 to 1000000')
  .max(1_000_000, 'must be a whole number from 1 to 1000000')
  .nullable()
  .describe('Units in a window; null for the default of the server.');

/** What the operator wants to remember of a key; null for nothing. */
export const keyNotes = z
  .string()
  .max(2000, 'must have at most 2000 characters')
  .regex(/^(?:[^\p{Cc}\p{Cs}]|[\t\n\r])*$/u, 'must be text without control characters')
  .nullable()
  .describe('What the operator wants to remember of the key; null for nothing.');

/** What a new key is given. A member that is not known is refused, so that none is misspelt. */
export const newKey = z.strictObject({
  label: keyLabel,
  allowance: keyAllowance.optional(),
  notes: keyNotes.optional(),
});

/** What is given for a new key. */
export type NewKey = z.output<typeof newKey>;

/** What can be changed of a key; what is left out stays. */
export const keyChanges = z.strictObject({
  enabled: z.boolean('must be true or false').optional().describe('Whether the key is accepted.'),
  label: keyLabel.optional(),
  allowance: keyAllowance.optional(),
  notes: keyNotes.optional(),
});

/** What is changed of a key. */
export type KeyChanges = z.output<typeof keyChanges>;
