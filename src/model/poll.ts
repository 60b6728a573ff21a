import { z } from 'zod';

/** A poll with its result so far. Shares are percent with one decimal; null while hidden. */
export const poll = z
  .object({
    choices: z
      .array(
        z
          .object({
            label: z.string(),
            count: z.number().nullable(),
            percentage: z.number().nullable(),
          })
          .readonly(),
      )
      .readonly(),
    total_votes: z.number().nullable(),
    total_voters: z
      .number()
      .nullable()
      .optional()
      .describe('People who voted; each may have chosen several. Absent where nobody counts them.'),
    ends_at: z.string().nullable().describe('ISO 8601, UTC.'),
  })
  .readonly()
  .meta({ id: 'Poll' });

/** A poll. */
export type Poll = z.output<typeof poll>;
