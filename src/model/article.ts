import { z } from 'zod';

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

/** One block of an article, in reading order. */
const articleBlock = z
  .discriminatedUnion('type', [
    z
      .object({
        type: z.literal('paragraph'),
        text: z.string(),
        styles: z.array(styleRange).readonly(),
      })
      .readonly(),
    z
      .object({
        type: z.literal('heading'),
        level: z.number().int().min(1).max(6),
        text: z.string(),
        styles: z.array(styleRange).readonly(),
      })
      .readonly(),
    z
      .object({
        type: z.literal('list_item'),
        ordered: z.boolean(),
        text: z.string(),
        styles: z.array(styleRange).readonly(),
      })
      .readonly(),
    z
      .object({
        type: z.literal('quote'),
        text: z.string(),
        styles: z.array(styleRange).readonly(),
      })
      .readonly(),
    z.object({ type: z.literal('code'), text: z.string() }).readonly(),
    z.object({ type: z.literal('markdown'), text: z.string() }).readonly(),
    z
      .object({
        type: z.literal('image'),
        url: z.string(),
        alt: z.string().nullable(),
        width: z.number().nullable(),
        height: z.number().nullable(),
      })
      .readonly(),
    z.object({ type: z.literal('post'), url: z.string() }).readonly(),
    z.object({ type: z.literal('divider') }).readonly(),
  ])
  .meta({ id: 'ArticleBlock' });

/** One block of an article. */
export type ArticleBlock = z.output<typeof articleBlock>;

/** A long-form article that a post carries. `blocks` is empty where only its beginning is known. */
export const article = z
  .object({
    id: z.string().nullable(),
    title: z.string(),
    preview_text: z.string().nullable(),
    cover_url: z.string().nullable(),
    created_at: z.string().nullable().describe('ISO 8601, UTC.'),
    modified_at: z.string().nullable().describe('ISO 8601, UTC.'),
    blocks: z.array(articleBlock).readonly(),
  })
  .readonly()
  .meta({ id: 'Article' });

/** A long-form article. */
export type Article = z.output<typeof article>;
