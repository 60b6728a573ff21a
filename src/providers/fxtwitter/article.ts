import type { Article, ArticleBlock, StyleRange } from '../../model/article.ts';
import { nestRuns } from '../../platforms/runs.ts';
import { isNamed, tagUrl } from '../../platforms/tags.ts';
import { countCodePoints, isWebUrl, toCodePoints } from '../../platforms/text.ts';
import { toIsoTime } from '../../platforms/times.ts';
import { xPostUrl } from '../../platforms/x.ts';
import type { StatusPayload } from './payload.ts';

type ArticlePayload = NonNullable<StatusPayload['article']>;
type ContentPayload = NonNullable<ArticlePayload['content']>;
type BlockPayload = ContentPayload['blocks'][number];
type EntityPayload = ContentPayload['entityMap'][number]['value'];
type MediaInfo = ArticlePayload['media_entities'][number]['media_info'];

interface References {
  readonly entities: ReadonlyMap<string, EntityPayload>;
  readonly media: ReadonlyMap<string, MediaInfo>;
}

/** Converts a long-form article from FxTwitter's format. Omits blank blocks. */
export function shapeArticle(article: ArticlePayload): Article {
  const references = {
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
    blocks: (article.content?.blocks ?? []).flatMap((block) => shapeBlock(block, references)),
  };
}

const headings = ['one', 'two', 'three', 'four', 'five', 'six'].map((level) => `header-${level}`);

function shapeBlock(block: BlockPayload, references: References): readonly ArticleBlock[] {
  if (block.type === 'atomic') {
    // The text of an atomic block is a single space; its content is in entities.
    return block.entityRanges.flatMap(({ key }) =>
      shapeEntity(references.entities.get(key), references),
    );
  }
  const { text } = block;
  if (text.trim() === '') return [];
  if (block.type === 'code-block') return [{ type: 'code', text }];
  const styles = shapeStyles(block, references);
  const level = headings.indexOf(block.type) + 1;
  if (level > 0) return [{ type: 'heading', level, text, styles }];
  switch (block.type) {
    case 'unordered-list-item':
    case 'ordered-list-item':
      return [{ type: 'list_item', ordered: block.type === 'ordered-list-item', text, styles }];
    case 'blockquote':
      return [{ type: 'quote', text, styles }];
    default:
      return [{ type: 'paragraph', text, styles }];
  }
}

function shapeEntity(
  entity: EntityPayload | undefined,
  { media }: References,
): readonly ArticleBlock[] {
  const { type, data = null } = entity ?? {};
  if (type === 'DIVIDER') return [{ type: 'divider' }];
  if (data === null) return [];
  switch (type) {
    case 'MARKDOWN':
      return data.markdown === null ? [] : [{ type: 'markdown', text: data.markdown }];
    case 'TWEET':
      return data.tweetId === null ? [] : [{ type: 'post', url: xPostUrl(null, data.tweetId) }];
    case 'MEDIA':
      return data.mediaItems.flatMap(({ mediaId }) => shapeMedia(media.get(mediaId)));
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
  const { original_img_url: url, original_img_width: width, original_img_height: height } = info;
  return url === null ? [] : [{ type: 'image', url, alt: null, width, height }];
}

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

function shapeStyles(block: BlockPayload, references: References): readonly StyleRange[] {
  const points = toCodePoints(block.text);
  const links = [...entityLinks(block, references), ...tagLinks(block, points)];
  return nestRuns([...inlineStyles(block), ...links], points.length);
}

const inlineStyleNames = ['bold', 'italic', 'strikethrough', 'code'] as const;

function inlineStyles(block: BlockPayload): readonly StyleRange[] {
  return block.inlineStyleRanges.flatMap(({ style: name, offset, length }) => {
    const style = inlineStyleNames.find((known) => known === name.toLowerCase());
    return style === undefined ? [] : [{ style, start: offset, end: offset + length }];
  });
}

function entityLinks(block: BlockPayload, references: References): readonly StyleRange[] {
  return block.entityRanges.flatMap(({ key, offset, length }): StyleRange[] => {
    const entity = references.entities.get(key);
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
    // Fast path: a range that is much longer than the name cannot match.
    if (end - start > 2 * text.length + 2 || url === null) return [];
    return isNamed(points.slice(start, end).join(''), text)
      ? [{ style: 'link', start, end, url }]
      : [];
  });
}

function absoluteUrl(text: string): string | null {
  const url = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  return isWebUrl(url) ? url : null;
}
