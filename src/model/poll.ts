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
    ends_at: z.string().nullable().describe('ISO 8601, UTC.'),
  })
  .readonly()
  .meta({ id: 'Poll' });

/** A poll. */
export type Poll = z.output<typeof poll>;
