import { z } from 'zod';

/** How many people reacted to a post with an emoji. */
export const reaction = z
  .object({
    name: z.string().describe('The emoji, or the name of one that a server has made.'),
    count: z.number().int(),
    url: z.string().optional().describe('The picture of an emoji that a server has made.'),
  })
  .readonly()
  .meta({ id: 'Reaction' });

/** How many people reacted to a post with an emoji. */
export type Reaction = z.output<typeof reaction>;
