import { toJsonBody } from '../lib/http/json-bodies.ts';
import type { Post } from '../model/post.ts';
import type {
  EmbedReply,
  EmbedResult,
  ListReply,
  ListResult,
  PostReply,
  PostResult,
} from '../model/results.ts';
import type { RenderContext } from './context.ts';
import { toSafeUrl } from './html/markup.ts';
import { findPictures } from './html/pictures.ts';
import { renderPostQuote } from './html/post.ts';
import { copyPrefix } from './markdown/blocks.ts';
import { renderBrowsePage } from './markdown/browse-page.ts';
import { toLine } from './markdown/characters.ts';
import { renderPostPage } from './markdown/post-page.ts';
import { headlinePost } from './summary.ts';

export function renderPostJson(result: PostResult): string {
  const { format, url, ...rest } = describePost(result);
  return toJsonBody({ format, url, markdown: renderPostPage(result), ...rest } satisfies PostReply);
}

/** Renders a post with its thread, without the member `markdown`. */
export const renderPostData = (result: PostResult): string => toJsonBody(describePost(result));

function describePost(result: PostResult): Omit<PostReply, 'markdown'> {
  return {
    format: 'json',
    url: result.url,
    posts: result.posts,
    compact: !result.full,
    warnings: result.warnings,
    postCount: result.posts.length,
    fetched_at: result.fetchedAt,
    source: result.source,
  };
}

export function renderBrowseJson(result: ListResult): string {
  const { source, fetched_at, ...rest } = describeList(result);
  const markdown = renderBrowsePage(result);
  return toJsonBody({ ...rest, markdown, source, fetched_at } satisfies ListReply);
}

/** Renders a page of posts or accounts, without the member `markdown`. */
export const renderBrowseData = (result: ListResult): string => toJsonBody(describeList(result));

function describeList(result: ListResult): Omit<ListReply, 'markdown'> {
  const { subject, profile, items, next } = result;
  return {
    resource: subject.resource,
    ...describeSubject(subject),
    ...(profile !== null && { profile }),
    ...items,
    page: result.page,
    limit: result.limit,
    ...(next !== null && { nextCursor: next.cursor }),
    warnings: result.warnings,
    degraded: result.degraded,
    source: result.source,
    fetched_at: result.fetchedAt,
  };
}

function describeSubject(subject: ListResult['subject']): Partial<ListReply> {
  if (subject.resource === 'search') return { query: subject.query, feed: subject.feed };
  if (subject.resource !== 'replies') return { handle: subject.handle };
  const { handle, id, url } = subject;
  return { ...(handle !== null && { handle }), id, url };
}

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
