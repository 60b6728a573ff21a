import { toJsonBody } from '../core/http/to-json-body.ts';
import type { Post } from '../model/post.ts';
import type { EmbedReply, EmbedResult } from '../model/results.ts';
import type { RenderContext } from './context.ts';
import { toSafeUrl } from './html/escape.ts';
import { findPictures } from './html/pictures.ts';
import { renderPostQuote } from './html/post.ts';
import { copyPrefix } from './markdown/accounts.ts';
import { toLine } from './markdown/characters.ts';
import { headlinePost } from './summary.ts';

/** Renders oEmbed 1.0 JSON of type `rich`; no scripts, no resources but this server's pictures. */
export function renderEmbedJson(
  result: EmbedResult,
  { toPictureUrl }: Pick<RenderContext, 'toPictureUrl'> = {},
): string {
  const width = Math.min(defaultWidth, result.maxWidth ?? defaultWidth);
  const lineWidth = Math.max(width - metrics.blockIndent, metrics.minLineWidth);
  const pictureWidth = Math.min(width, lineWidth);
  const html = renderPostQuote(result.post, { toPictureUrl, pictureWidth });
  const reply: EmbedReply = {
    version: '1.0',
    type: 'rich',
    html,
    width,
    height: Math.min(estimateHeight(html, width), result.maxHeight ?? Number.POSITIVE_INFINITY),
    title: headlinePost(result.post),
    ...authorOf(result.post),
    provider_name: 'Perch',
    provider_url: result.baseUrl,
    cache_age: result.cacheSeconds,
    ...thumbnailOf(result, toPictureUrl),
  };
  return toJsonBody(reply);
}

const defaultWidth = 550; // width in pixels in which platforms show their own embedded posts

const metrics = {
  characterWidth: 8,
  lineHeight: 20,
  blockMargin: 16,
  blockIndent: 80,
  minLineWidth: 100,
} as const;

function estimateHeight(html: string, width: number): number {
  const lineWidth = Math.max(width - metrics.blockIndent, metrics.minLineWidth);
  const blocks = html.match(/<(?:p|ul|blockquote)[ >]/g)?.length ?? 0;
  const lines = html
    .replace(/<(?!br )[^<>]*>/g, '')
    .split(/<br \/>|\n/)
    .map((line) => Math.ceil((line.length * metrics.characterWidth) / lineWidth));
  const pictures = [...html.matchAll(/<img [^<>]*? height="(\d+)"/g)];
  const pixels = pictures.reduce((sum, [, height]) => sum + Number(height), 0);
  const spaced = (blocks + 1) * metrics.blockMargin + pixels;
  return lines.reduce((sum, rows) => sum + rows * metrics.lineHeight, spaced);
}

function authorOf(post: Post): Partial<EmbedReply> {
  const { author } = post;
  if (author === null) return {};
  const isCopy = post.type === 'status' && post.copied_from !== undefined;
  const url = isCopy ? null : toSafeUrl(author.url);
  const author_name = `${copyPrefix(post)}${toLine(author.name) || `@${toLine(author.screen_name)}`}`;
  return url === null ? { author_name } : { author_name, author_url: url };
}

function thumbnailOf(
  { post, maxWidth, maxHeight }: EmbedResult,
  toPictureUrl: RenderContext['toPictureUrl'],
): Partial<EmbedReply> {
  for (const { url, width, height } of findPictures(post)) {
    if (width === null || height === null) continue;
    if (width > (maxWidth ?? width) || height > (maxHeight ?? height)) continue;
    const thumbnail_url = toPictureUrl?.(url) ?? url;
    return { thumbnail_url, thumbnail_width: width, thumbnail_height: height };
  }
  return {};
}
