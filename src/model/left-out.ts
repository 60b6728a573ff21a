import { z } from 'zod';

/** The members of a post or an account that are not whole. */
export const leftOut = z
  .array(z.string())
  .readonly()
  .optional()
  .describe(
    'The members of which a part is missing, because the source sent more than Perch reads, or something unreadable. Absent where everything is here.',
  );
