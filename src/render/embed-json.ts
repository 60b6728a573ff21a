import type { Post } from '../model/post.ts';
import type { EmbedReply, EmbedResult } from '../model/results.ts';
import { callAccount } from './html/labels.ts';
import { toSafeUrl } from './html/links.ts';
import { findPictures } from './html/pictures.ts';
import { renderPostQuote } from './html/post-quote.ts';
import { titleCopy } from './markdown/copies.ts';
import { headlinePost } from './summary.ts';

/** Gives an oEmbed 1.0 document of type `rich` as JSON text. Its `html` loads and runs nothing. */
export function renderEmbedJson(result: EmbedResult): string {
  return JSON.stringify(toEmbedReply(result));
}

function toEmbedReply(result: EmbedResult): EmbedReply {
  const html = renderPostQuote(result.post);
  const width = Math.min(defaultWidth, result.maxWidth ?? defaultWidth);
  return {
    version: '1.0',
    type: 'rich',
    html,
    width,
    height: heightOf(html, width, result.maxHeight),
    title: headlinePost(result.post),
    ...authorOf(result.post),
    provider_name: 'Perch',
    provider_url: result.baseUrl,
    cache_age: result.cacheSeconds,
    ...thumbnailOf(result),
  };
}

/** Pixels: the width in which platforms show their own embedded posts. */
const defaultWidth = 550;

/**
 * Gives an estimate, because text is as high as the page's own type makes it; but oEmbed 1.0 §2.3.4.4
 * requires a number, and §2.2 that it stays within `maxheight`. What is longer has to scroll.
 */
function heightOf(html: string, width: number, maxHeight: number | null): number {
  const height = estimateHeight(html, width);
  return maxHeight === null ? height : Math.min(maxHeight, height);
}

/** Pixels in the usual style of browsers: text of 16px, a margin round every block. */
const metrics = { character: 8, line: 20, margin: 16, indent: 80, narrowest: 100 } as const;

function estimateHeight(html: string, width: number): number {
  const room = Math.max(width - metrics.indent, metrics.narrowest);
  const blocks = html.match(/<(?:p|ul|blockquote)[ >]/g)?.length ?? 0;
  const lines = html
    .replace(/<(?!br )[^<>]*>/g, '')
    .split(/<br \/>|\n/)
    .map((line) => Math.ceil((line.length * metrics.character) / room));
  return lines.reduce((sum, rows) => sum + rows * metrics.line, (blocks + 1) * metrics.margin);
}

/** A copy names the server that it is from, and leads to no page of the account that it names. */
function authorOf(post: Post): Pick<EmbedReply, 'author_name' | 'author_url'> {
  const { author } = post;
  if (author === null) return {};
  const isCopy = post.type === 'status' && post.copied_from !== undefined;
  const url = isCopy ? null : toSafeUrl(author.url);
  const name = titleCopy(post, callAccount(author));
  return { author_name: name, ...(url === null ? {} : { author_url: url }) };
}

type Thumbnail = Pick<EmbedReply, 'thumbnail_url' | 'thumbnail_width' | 'thumbnail_height'>;

/** The three stand together, and only within what was asked for (oEmbed 1.0 §2.3.4). */
function thumbnailOf({ post, maxWidth, maxHeight }: EmbedResult): Thumbnail {
  for (const { url, width, height } of findPictures(post)) {
    if (width === null || height === null) continue;
    if (width > (maxWidth ?? width) || height > (maxHeight ?? height)) continue;
    return { thumbnail_url: url, thumbnail_width: width, thumbnail_height: height };
  }
  return {};
}
