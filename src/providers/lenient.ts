import { z } from 'zod';

/** Makes a schema for what may be absent, null or odd without harm: null unless `schema` reads it. */
export function lenient<S extends z.ZodType>(schema: S) {
  return z
    .unknown()
    .optional()
    .transform((value): z.output<S> | null => {
      if (value === undefined) return null; // spares the making of an error, which takes longest
      const parsed = schema.safeParse(value);
      return parsed.success ? parsed.data : null;
    });
}

/**
 * Members that cannot be read before the rest of a list is left unread: to find out what is wrong with
 * one takes long, and a body has room for millions.
 */
const maxUnreadable = 100;

/** Makes a schema for a list of which only the members count that `schema` reads. */
export function eachOf<S extends z.ZodType>(schema: S) {
  return z
    .unknown()
    .optional()
    .transform((rows): readonly z.output<S>[] => {
      if (!Array.isArray(rows) || rows.length === 0) return [];
      return readEach(schema, rows);
    });
}

function readEach<S extends z.ZodType>(
  schema: S,
  rows: readonly unknown[],
): readonly z.output<S>[] {
  const read: z.output<S>[] = [];
  let unreadable = 0;
  for (const row of rows) {
    const parsed = schema.safeParse(row);
    if (parsed.success) read.push(parsed.data);
    else unreadable += 1;
    if (unreadable >= maxUnreadable) break;
  }
  return read;
}

/** A text that is not empty; else null. */
export const words = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'string' && value !== '' ? value : null));

/** A number; else null. */
export const count = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'number' && Number.isFinite(value) ? value : null));
