import { z } from 'zod';
import type { Article, ArticleBlock, StyleRange } from '../../model/article.ts';
import {
  address,
  count,
  eachOf,
  lenient,
  term,
  text,
  token,
  url,
  words,
} from '../../platforms/lenient.ts';
import { maximums } from '../../platforms/maximums.ts';
import { settleRuns } from '../../platforms/runs.ts';
import { isNamed, tagUrl } from '../../platforms/tags.ts';
import { countCodePoints, isWebUrl, toCodePoints } from '../../platforms/text.ts';
import { toIsoTime } from '../../platforms/times.ts';
import { xId, xPostUrl } from '../../platforms/x.ts';

// Offsets of an article count Unicode code points: the inline styles and URLs of the recorded article
// after an emoji fit code points and not UTF-16 units.

const offset = z.number().int().nonnegative();

/** What one part of an article refers to another by: a number, or a text of digits. */
const key = z.union([token, z.number().transform(String)]);

const tags = eachOf(z.object({ fromIndex: offset, toIndex: offset, text }), maximums.facets);

const blockPayload = z.object({
  type: token,
  text,
  data: lenient(z.object({ urls: tags, mentions: tags, hashtags: tags, cashtags: tags })),
  entityRanges: eachOf(
    z.object({ key, offset: offset.catch(0), length: offset.catch(0) }),
    maximums.facets,
  ),
  inlineStyleRanges: eachOf(z.object({ style: token, offset, length: offset }), maximums.facets),
});
type BlockPayload = z.output<typeof blockPayload>;

const entityPayload = z.object({
  type: token,
  data: lenient(
    z.object({
      markdown: words,
      tweetId: lenient(xId),
      url: address,
      mediaItems: eachOf(z.object({ mediaId: key }), maximums.media),
    }),
  ),
});
type EntityPayload = z.output<typeof entityPayload>;

const variants = eachOf(
  z.object({
    url,
    content_type: term,
    bitrate: count,
    bit_rate: count,
  }),
  maximums.variants,
);

const mediaInfo = z.object({
  original_img_url: address,
  original_img_width: count,
  original_img_height: count,
  variants,
  video_info: lenient(z.object({ variants })),
});
type MediaInfo = z.output<typeof mediaInfo>;

/** A long-form article. `content` has no blocks where only its beginning was sent. */
export const articlePayload = z.object({
  id: term,
  title: text,
  preview_text: words,
  created_at: term,
  modified_at: term,
  cover_media: lenient(z.object({ media_info: z.object({ original_img_url: address }) })),
  content: lenient(
    z.object({
      blocks: eachOf(blockPayload, maximums.blocks),
      entityMap: eachOf(z.object({ key, value: entityPayload }), maximums.blocks),
    }),
  ),
  media_entities: eachOf(z.object({ media_id: key, media_info: mediaInfo }), maximums.blocks),
});
type ArticlePayload = z.output<typeof articlePayload>;

/** What the blocks of one article point to, by key. */
interface Referred {
  readonly entities: ReadonlyMap<string, EntityPayload>;
  readonly media: ReadonlyMap<string, MediaInfo>;
}

/** Returns a long-form article with its blocks in reading order; blank blocks are left out. */
export function shapeArticle(article: ArticlePayload): Article {
  const referred = {
    entities: new Map(article.content?.entityMap.map(({ key, value }) => [key, value])),
    media: new Map(article.media_entities.map((item) => [item.media_id, item.media_info])),
  };
  return {
    id: article.id,
    title: article.title,
    preview_text: article.preview_text,
    cover_url: article.cover_media?.media_info.original_img_url ?? null,
    created_at: toIsoTime(article.created_at),
    modified_at: toIsoTime(article.modified_at),
    blocks: (article.content?.blocks ?? []).flatMap((block) => shapeBlock(block, referred)),
  };
}

const headings: ReadonlyMap<string, number> = new Map([
  ['header-one', 1],
  ['header-two', 2],
  ['header-three', 3],
  ['header-four', 4],
  ['header-five', 5],
  ['header-six', 6],
]);

function shapeBlock(block: BlockPayload, referred: Referred): readonly ArticleBlock[] {
  if (block.type === 'atomic') return shapeAtomic(block, referred);
  const { text } = block;
  if (text.trim() === '') return [];
  if (block.type === 'code-block') return [{ type: 'code', text }];
  const styles = shapeStyles(block, referred);
  const level = headings.get(block.type);
  if (level !== undefined) return [{ type: 'heading', level, text, styles }];
  switch (block.type) {
    case 'unordered-list-item':
      return [{ type: 'list_item', ordered: false, text, styles }];
    case 'ordered-list-item':
      return [{ type: 'list_item', ordered: true, text, styles }];
    case 'blockquote':
      return [{ type: 'quote', text, styles }];
    default:
      return [{ type: 'paragraph', text, styles }];
  }
}

/** An atomic block is one space; its content is what it points to. */
function shapeAtomic(block: BlockPayload, referred: Referred): readonly ArticleBlock[] {
  return block.entityRanges.flatMap(({ key }) => {
    const entity = referred.entities.get(key);
    return entity === undefined ? [] : shapeEntity(entity, referred);
  });
}

function shapeEntity({ type, data }: EntityPayload, referred: Referred): readonly ArticleBlock[] {
  if (type === 'DIVIDER') return [{ type: 'divider' }];
  if (data === null) return [];
  switch (type) {
    case 'MARKDOWN':
      return data.markdown === null ? [] : [{ type: 'markdown', text: data.markdown }];
    case 'TWEET':
      return data.tweetId === null ? [] : [{ type: 'post', url: xPostUrl(null, data.tweetId) }];
    case 'MEDIA':
      return data.mediaItems.flatMap(({ mediaId }) => shapeMedia(referred.media.get(mediaId)));
    case 'LINK':
      return data.url === null ? [] : linkParagraph(data.url, data.url);
    default:
      return [];
  }
}

function shapeMedia(info: MediaInfo | undefined): readonly ArticleBlock[] {
  if (info === undefined) return [];
  const video = bestVariant(info);
  if (video !== null) return linkParagraph('Video', video);
  if (info.original_img_url === null) return [];
  return [
    {
      type: 'image',
      url: info.original_img_url,
      alt: null,
      width: info.original_img_width,
      height: info.original_img_height,
    },
  ];
}

/** Returns the mp4 with the most bits, because an article has no block for a video. */
function bestVariant(info: MediaInfo): string | null {
  const variants = [...info.variants, ...(info.video_info?.variants ?? [])];
  const [best] = variants
    .filter(({ content_type }) => content_type === null || content_type === 'video/mp4')
    .map(({ url, bitrate, bit_rate }) => ({ url, rate: bitrate ?? bit_rate ?? 0 }))
    .sort((a, b) => b.rate - a.rate);
  return best?.url ?? null;
}

function linkParagraph(text: string, url: string): readonly ArticleBlock[] {
  if (!isWebUrl(url)) return [];
  const link: StyleRange = { style: 'link', start: 0, end: countCodePoints(text), url };
  return [{ type: 'paragraph', text, styles: [link] }];
}

function shapeStyles(block: BlockPayload, referred: Referred): readonly StyleRange[] {
  const points = toCodePoints(block.text);
  const links = [...entityLinks(block, referred), ...tagLinks(block, points)];
  return settleRuns([...inlineStyles(block), ...links], points.length);
}

const inlineStyleNames = ['bold', 'italic', 'strikethrough', 'code'] as const;

function inlineStyles(block: BlockPayload): readonly StyleRange[] {
  return block.inlineStyleRanges.flatMap(({ style: name, offset, length }) => {
    const style = inlineStyleNames.find((known) => known === name.toLowerCase());
    return style === undefined ? [] : [{ style, start: offset, end: offset + length }];
  });
}

/** `TWEMOJI` ranges, which most entities of a text are, only decorate the emoji under them. */
function entityLinks(block: BlockPayload, referred: Referred): readonly StyleRange[] {
  return block.entityRanges.flatMap(({ key, offset, length }): StyleRange[] => {
    const entity = referred.entities.get(key);
    const url = entity?.type === 'LINK' ? entity.data?.url : null;
    if (typeof url !== 'string' || !isWebUrl(url)) return [];
    return [{ style: 'link', start: offset, end: offset + length, url }];
  });
}

function tagLinks(block: BlockPayload, points: readonly string[]): readonly StyleRange[] {
  if (block.data === null) return [];
  const { urls, mentions, hashtags, cashtags } = block.data;
  const found = [
    ...urls.map((tag) => ({ ...tag, url: absoluteUrl(tag.text) })),
    ...mentions.map((tag) => ({ ...tag, url: tagUrl('mention', tag.text) })),
    ...hashtags.map((tag) => ({ ...tag, url: tagUrl('hashtag', tag.text) })),
    ...cashtags.map((tag) => ({ ...tag, url: tagUrl('symbol', tag.text) })),
  ];
  return found.flatMap(({ fromIndex: start, toIndex: end, text, url }): StyleRange[] => {
    // A range much longer than the name need not be put together to be compared with it.
    if (end - start > 2 * text.length + 2 || url === null) return [];
    const stands = isNamed(points.slice(start, end).join(''), text);
    return stands ? [{ style: 'link', start, end, url }] : [];
  });
}

/** Authors write `example.com`, which X links as well. */
function absoluteUrl(text: string): string | null {
  const url = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  return isWebUrl(url) ? url : null;
}
