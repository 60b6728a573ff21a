import { z } from 'zod';

/** What a post shows of a page that it links to, as the platform saw that page. */
export const card = z
  .object({
    url: z.string(),
    title: z.string().describe('May be empty.'),
    description: z.string().nullable(),
    image_url: z.string().nullable(),
    image_alt: z.string().optional().describe('What the picture shows, where the page says so.'),
    provider_name: z.string().optional().describe('The site: its name, or its domain.'),
    author_name: z.string().optional().describe('Who wrote the page.'),
    author_url: z.string().optional(),
  })
  .readonly()
  .meta({ id: 'Card' });

/** The preview of a linked page. */
export type Card = z.output<typeof card>;
