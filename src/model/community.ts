import { z } from 'zod';

/** A community of X, in which people write for each other. */
export const community = z
  .object({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    description: z.string().nullable(),
  })
  .readonly()
  .meta({ id: 'Community' });

/** A community of X. */
export type Community = z.output<typeof community>;
