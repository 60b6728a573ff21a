import { z } from 'zod';

/** Makes a schema for what may be absent, null or odd without harm: null unless `schema` reads it. */
export function lenient<S extends z.ZodType>(schema: S) {
  return z
    .unknown()
    .optional()
    .transform((value): z.output<S> | null => {
      const parsed = schema.safeParse(value);
      return parsed.success ? parsed.data : null;
    });
}

/** Makes a schema for a list of which only the members count that `schema` reads. */
export function eachOf<S extends z.ZodType>(schema: S) {
  return z
    .unknown()
    .optional()
    .transform((rows): readonly z.output<S>[] => {
      if (!Array.isArray(rows)) return [];
      return rows.flatMap((row) => {
        const parsed = schema.safeParse(row);
        return parsed.success ? [parsed.data] : [];
      });
    });
}

/** A text that is not empty; else null. */
export const words = lenient(z.string().min(1));

/** A number; else null. */
export const count = lenient(z.number());
