import type { Post } from '../model/post.ts';
import type { PostResult } from '../model/results.ts';
import { Html, html, toSafeUrl } from './html/markup.ts';
import { findPictures, findVideo, hidesPictures, type Picture, toWebUrl } from './html/pictures.ts';
import { renderPostQuote } from './html/post.ts';
import { nameAccount } from './markdown/blocks.ts';
import { toLine } from './markdown/characters.ts';
import { toThread } from './markdown/thread.ts';
import { headlinePost, nameAuthor, summarizePost, titlePost } from './summary.ts';

/** Renders a page with Open Graph tags, without scripts and styles. */
export function renderPreviewPage(result: PostResult): string {
  const { main } = toThread(result.posts);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${toLine(headlinePost(main))}</title>
<meta name="viewport" content="width=device-width">
${renderPreviewTags(main, result.url)}${renderRelation(html`rel="canonical"`, result.url)}${renderOEmbedLink(result)}</head>
<body>
${main && new Html(`${renderPostQuote(main)}\n`)}</body>
</html>
`.toString();
}

export function renderRelation(attributes: Html, url: string): Html | null {
  const safe = toSafeUrl(url);
  return safe === null ? null : html`<link ${attributes} href="${safe}">\n`;
}

export const renderOEmbedLink = ({ embedUrl }: PostResult) =>
  renderRelation(html`rel="alternate" type="application/json+oembed"`, embedUrl);

type Tag = readonly [name: string, content: string | number | null];

/** Returns `meta` elements: Open Graph (ogp.me), Twitter cards, description and author. */
export function renderPreviewTags(post: Post | undefined, url: string): Html {
  const pictures = findPictures(post).slice(0, maxPictures);
  const [first] = pictures;
  const title = titlePost(post);
  const summary = summarizePost(post);
  const tags: readonly Tag[] = [
    ['description', summary],
    ['og:type', 'article'],
    ['og:site_name', 'Perch'],
    ['og:title', title],
    ['og:description', summary],
    ['og:url', toSafeUrl(url)],
    ...pictures.flatMap(describePicture),
    ...(first === undefined ? describeAvatar(post) : []),
    ...describeVideo(post),
    ...describeOrigin(post),
    // Clients take the other values of a Twitter card from the Open Graph tags.
    ['twitter:card', first === undefined ? 'summary' : 'summary_large_image'],
    ['twitter:title', title],
    ['twitter:description', summary],
    ['twitter:image', first?.url ?? null],
    ['twitter:image:alt', first?.alt ?? null],
  ];
  const shown = tags.filter(([, content]) => content !== null && content !== '');
  return html`${shown.map(renderTag)}`;
}

const maxPictures = 4; // Discord and Telegram show four, other clients one

function describePicture({ url, width, height, alt }: Picture): readonly Tag[] {
  return [
    ['og:image', url],
    ['og:image:width', width],
    ['og:image:height', height],
    ['og:image:alt', alt],
  ];
}

function describeVideo(post: Post | undefined): readonly Tag[] {
  const video = findVideo(post);
  if (video === null) return [];
  const { url, width, height } = video;
  return [
    ['og:video', url],
    ['og:video:secure_url', url.startsWith('https:') ? url : null],
    ['og:video:type', 'video/mp4'],
    ['og:video:width', width],
    ['og:video:height', height],
  ];
}

function describeAvatar(post: Post | undefined): readonly Tag[] {
  if (post?.type !== 'status' || hidesPictures(post)) return [];
  const url = toWebUrl(post.author.avatar_url);
  if (url === null) return [];
  return [
    ['og:image', url],
    ['og:image:alt', `Picture of ${nameAccount(post.author)}`],
  ];
}

function describeOrigin(post: Post | undefined): readonly Tag[] {
  if (post?.type !== 'status') return [];
  const created = Date.parse(post.created_at);
  return [
    ['author', nameAuthor(post)],
    ['article:published_time', Number.isNaN(created) ? null : new Date(created).toISOString()],
    // For a copied post, the author is only a claim of the server that stores the copy.
    ['article:author', post.copied_from === undefined ? toSafeUrl(post.author.url) : null],
  ];
}

function renderTag([name, content]: Tag): Html {
  const key = /^(?:og|article):/.test(name) ? 'property' : 'name';
  return html`<meta ${key}="${name}" content="${toLine(String(content))}">\n`;
}
