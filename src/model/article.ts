import { z } from 'zod';
import { list, maybeText, record } from './record.ts';

const styleRange = z
  .object({
    style: z.enum(['bold', 'italic', 'strikethrough', 'code', 'link']),
    start: z.number().int(),
    end: z.number().int(),
    url: z.string().optional(),
  })
  .readonly();

/** A run of style over a block's text. Offsets count Unicode code points, end exclusive. */
export type StyleRange = z.output<typeof styleRange>;

const styledText = { text: z.string(), styles: list(styleRange) };

const articleBlock = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('paragraph'), ...styledText }).readonly(),
    z
      .object({
        type: z.literal('heading'),
        level: z.number().int().min(1).max(6),
        ...styledText,
      })
      .readonly(),
    z.object({ type: z.literal('list_item'), ordered: z.boolean(), ...styledText }).readonly(),
    z.object({ type: z.literal('quote'), ...styledText }).readonly(),
    z.object({ type: z.literal('code'), text: z.string() }).readonly(),
    z.object({ type: z.literal('markdown'), text: z.string() }).readonly(),
    z
      .object({
        type: z.literal('image'),
        url: z.string(),
        alt: maybeText,
        width: z.number().nullable(),
        height: z.number().nullable(),
      })
      .readonly(),
    z.object({ type: z.literal('post'), url: z.string() }).readonly(),
    z.object({ type: z.literal('divider') }).readonly(),
  ])
  .meta({ id: 'ArticleBlock' });

/** One block of an article, in reading order. */
export type ArticleBlock = z.output<typeof articleBlock>;

/** A long-form article that a post carries. `blocks` is empty where only its beginning is known. */
export const article = record('Article', {
  id: maybeText,
  title: z.string(),
  preview_text: maybeText,
  cover_url: maybeText,
  created_at: maybeText.describe('ISO 8601, UTC.'),
  modified_at: maybeText.describe('ISO 8601, UTC.'),
  blocks: list(articleBlock),
});

export type Article = z.output<typeof article>;
