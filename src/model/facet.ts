import { z } from 'zod';

/** A marked run of a text: a link, a mention, a tag or a style. */
export const facet = z
  .object({
    type: z.enum([
      'link',
      'mention',
      'hashtag',
      'symbol',
      'bold',
      'italic',
      'strikethrough',
      'code',
    ]),
    start: z.number().int().describe('First Unicode code point of the run in `text`.'),
    end: z.number().int().describe('Code point after the run.'),
    url: z.string().optional().describe('Where a link, mention or tag leads.'),
  })
  .readonly()
  .meta({ id: 'Facet' });
