import * as z from 'zod';
import { list, nullableText, optionalText, record } from './record.ts';

const styleRange = z
  .object({
    style: z.enum(['bold', 'italic', 'strikethrough', 'code', 'link']),
    start: z.number().int(),
    end: z.number().int(),
    url: optionalText,
  })
  .readonly();

/** Styled range of a block's text. Offsets count Unicode code points; the end is exclusive. */
export type StyleRange = z.output<typeof styleRange>;
const styledText = { text: z.string(), styles: list(styleRange) };

const block = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), ...shape }).readonly();

const articleBlock = z
  .discriminatedUnion('type', [
    block('paragraph', styledText),
    block('heading', { level: z.number().int().min(1).max(6), ...styledText }),
    block('list_item', { ordered: z.boolean(), ...styledText }),
    block('quote', styledText),
    block('code', { text: z.string() }),
    block('markdown', { text: z.string() }),
    block('image', {
      url: z.string(),
      alt: nullableText,
      width: z.number().nullable(),
      height: z.number().nullable(),
    }),
    block('post', { url: z.string() }),
    block('divider', {}),
  ])
  .meta({ id: 'ArticleBlock' });

export type ArticleBlock = z.output<typeof articleBlock>;

/** Article with blocks in reading order. `blocks` is empty if only a preview is available. */
export const article = record('Article', {
  id: nullableText,
  title: z.string(),
  preview_text: nullableText,
  cover_url: nullableText,
  created_at: nullableText.describe('Time at which the article was published: ISO 8601, UTC.'),
  modified_at: nullableText.describe('Time of the last change of the article: ISO 8601, UTC.'),
  blocks: list(articleBlock),
});
export type Article = z.output<typeof article>;
