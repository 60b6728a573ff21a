import type { Article, ArticleBlock, StyleRange } from '../../model/article.ts';
import type { Facet } from '../../model/post.ts';
import { maximums } from '../../normalize/maximums.ts';
import { lastWhere, nestRuns } from '../../normalize/runs.ts';
import { isNamed, scanFacets, tagUrl } from '../../normalize/tags.ts';
import {
  codePointOffsets,
  countCodePoints,
  type DecodedText,
  decodeWithOffsets,
  isWebUrl,
  toCodePoints,
  webUrlOrNull,
} from '../../normalize/text.ts';
import { toIsoTime } from '../../normalize/times.ts';
import { xPostUrl } from '../../normalize/x.ts';
import type { StatusPayload } from './wire.ts';

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

type RawText = NonNullable<StatusPayload['raw_text']>;
type FacetPayload = RawText['facets'][number];

interface Anchor {
  readonly rawStart: number;
  readonly rawEnd: number;
  readonly start: number;
  readonly end: number;
  readonly facet: Pick<Facet, 'type' | 'url'> | null;
}

interface Texts {
  readonly text: string;
  readonly raw: DecodedText;
}

/** Converts facets of X's original text (`raw`) to facets of FxTwitter's edited `text`. */
export function shapeFacets(text: string, raw: RawText | null): readonly Facet[] {
  if (raw === null) return scanFacets(text);
  if (raw.facets.length === 0) return [];
  const texts = { text, raw: decodeWithOffsets(raw.text) };
  const origin = anchorOrigin(texts, raw.display_text_range?.[0] ?? 0);
  const facets = raw.facets
    .toSorted((a, b) => a.indices[0] - b.indices[0])
    .slice(0, maximums.facets);
  const anchors = anchorLinks(texts, facets, origin);
  const styles = facets.map((facet) => anchorStyle(texts, facet, anchors));
  const toOffset = codePointOffsets(text);
  const found = [...anchors, ...styles].flatMap((anchor): Facet[] => {
    if (anchor === null || anchor.facet === null) return [];
    return [{ ...anchor.facet, start: toOffset(anchor.start), end: toOffset(anchor.end) }];
  });
  return nestRuns(found, toOffset(text.length));
}

/** Returns the links of a text that FxTwitter has not edited, such as a community note. */
export function shapeLinks({ text, facets }: Pick<RawText, 'text' | 'facets'>): readonly Facet[] {
  const points = toCodePoints(text);
  const found = facets.flatMap((facet): Facet[] => {
    const [start, end] = facet.indices;
    const link = toLink({ ...facet, original: points.slice(start, end).join('') });
    return link === null ? [] : [{ ...link, start, end }];
  });
  return nestRuns(found, points.length);
}

function anchorOrigin({ text, raw }: Texts, visibleStart: number): Anchor {
  const isServed = text.startsWith(slice(raw, 0, visibleStart));
  return { rawStart: 0, rawEnd: isServed ? 0 : visibleStart, start: 0, end: 0, facet: null };
}

function anchorLinks(texts: Texts, facets: readonly FacetPayload[], origin: Anchor) {
  const anchors = [origin];
  for (const facet of facets) {
    const anchor = anchorLink(texts, facet, anchors.at(-1) ?? origin);
    if (anchor !== null) anchors.push(anchor);
  }
  return anchors;
}

function anchorLink(texts: Texts, facet: FacetPayload, last: Anchor): Anchor | null {
  const [rawStart, rawEnd] = facet.indices;
  if (rawStart < last.rawEnd || rawStart >= rawEnd || facet.original === null) return null;
  const original = slice(texts.raw, rawStart, rawEnd);
  const link = toLink(facet);
  if (link === null || !isNamed(original, facet.original)) return null;
  const shown = link.type === 'link' ? link.url : original;
  const expected = project(texts.raw, last, { rawIndex: rawStart, inside: last.start });
  const start = locate(texts.text, shown, { expected, from: last.end });
  if (start === null) return null;
  return { rawStart, rawEnd, start, end: start + shown.length, facet: link };
}

function toLink({ type, original, replacement }: FacetPayload) {
  if (type === 'url') {
    const url = webUrlOrNull(replacement);
    return url === null ? null : ({ type: 'link', url } as const);
  }
  if (type !== 'mention' && type !== 'hashtag' && type !== 'symbol') return null;
  const url = tagUrl(type, original ?? '');
  return url === null ? null : ({ type, url } as const);
}

const styles = ['bold', 'italic', 'strikethrough'] as const;

function anchorStyle({ text, raw }: Texts, facet: FacetPayload, anchors: readonly Anchor[]) {
  const type = styles.find((style) => style === facet.type);
  const [rawStart, rawEnd] = facet.indices;
  if (type === undefined || rawStart >= rawEnd || rawEnd > raw.length) return null;
  const first = lastWhere(anchors, (anchor) => anchor.rawStart <= rawStart);
  const last = lastWhere(anchors, (anchor) => anchor.rawStart < rawEnd);
  if (first === undefined || last === undefined) return null;
  const expected = project(raw, first, { rawIndex: rawStart, inside: first.start });
  const expectedEnd = project(raw, last, { rawIndex: rawEnd, inside: last.end });
  const found = { rawStart, rawEnd, facet: { type }, start: expected, end: expectedEnd };
  if (last !== first || rawStart < first.rawEnd) return found;
  const shown = slice(raw, rawStart, rawEnd);
  const start = locate(text, shown, { expected, from: first.end });
  return start === null ? null : { ...found, start, end: start + shown.length };
}

function project(raw: DecodedText, anchor: Anchor, place: { rawIndex: number; inside: number }) {
  if (place.rawIndex < anchor.rawEnd) return place.inside;
  return anchor.end + raw.toIndex(place.rawIndex) - raw.toIndex(anchor.rawEnd);
}

function locate(text: string, run: string, place: { expected: number; from: number }) {
  if (run === '') return null;
  if (text.startsWith(run, place.expected)) return place.expected;
  const index = text.indexOf(run, place.from);
  return index < 0 ? null : index;
}

const slice = (raw: DecodedText, start: number, end: number): string =>
  raw.text.slice(raw.toIndex(start), raw.toIndex(end));
