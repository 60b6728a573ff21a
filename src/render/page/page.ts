import { parseHandle, platformNames } from '../../model/reference.ts';
import { feedFormats, type ListResult, type PostResult } from '../../model/results.ts';
import type { RenderContext } from '../context.ts';
import { feedMediaTypes, postsOf } from '../feeds/feeds.ts';
import { toFormatUrl } from '../feeds/urls.ts';
import { brandMark, Html, html, openLink, renderTime } from '../html/markup.ts';
import { toLine } from '../markdown/characters.ts';
import { toThread } from '../markdown/thread.ts';
import { renderOEmbedLink, renderPreviewTags, renderRelation } from '../preview-page.ts';
import { renderResult } from './result.ts';
import { mastodonHostOf } from './view.ts';

type ShownResult = PostResult | ListResult;

/** Renders a page with embedded styles that needs no script. */
export function renderHtmlPage(result: ShownResult, context: RenderContext): string {
  const { title, html: content } = renderResult(result, { ...context, level: 1 });
  const script = findScript(result, context);
  return html`<!doctype html>
<html lang="en">
<head>
${renderHead(result, toLine(title), context)}
</head>
<body class="result-page">
${renderHeader(context)}
<div class="frame">
${renderTools(result, context)}
<main class="rendered">
${new Html(content)}</main>
</div>
<footer class="site-footer">
<div class="bar"><p>Read from ${toLine(result.source)}, ${new Html(renderTime(result.fetchedAt))}.</p></div>
</footer>
${script && html`<script>${new Html(script.text)}</script>\n`}</body>
</html>
`.toString();
}

/** Returns headers with a CSP for embedded styles and script, pictures and forms of this server. */
export function toPageHeaders(
  result: ShownResult,
  context: RenderContext,
): Readonly<Record<string, string>> {
  const { pageAssets, baseUrl, hasDirectPictures } = context;
  const script = findScript(result, context);
  const policy = [
    "default-src 'none'",
    ...(pageAssets === undefined ? [] : [`style-src '${pageAssets.stylesHash}'`]),
    ...(script === null ? [] : [`script-src '${script.hash}'`]),
    pictureSources(hasDirectPictures),
    "base-uri 'none'",
    `form-action ${new URL(baseUrl).origin}`,
    "frame-ancestors 'none'",
  ];
  return { 'content-security-policy': policy.join('; '), 'referrer-policy': 'same-origin' };
}

/** Returns the CSP directive for pictures. `isDirect`: whether other hosts are allowed. */
export const pictureSources = (isDirect = false): string =>
  `img-src 'self' data:${isDirect ? ' https:' : ''}`;

const findScript = (result: ShownResult, { pageAssets }: RenderContext) =>
  pageAssets !== undefined && hasThreadKeys(result) ? pageAssets.threadScript : null;

const renderHeader = ({ baseUrl }: RenderContext) =>
  html`<header class="site-header"><div class="bar"><a class="brand" href="${baseUrl}/">${brandMark}<span>Perch</span></a>
<form class="paste" role="search" aria-label="Read another" action="${baseUrl}/#result">
<input type="text" name="q" aria-label="Link to a post, profile or search, an @handle, or words to search for" placeholder="Link, @handle or words" dir="auto" inputmode="url" required maxlength="2048" autocomplete="off" autocapitalize="off" spellcheck="false">
<button type="submit">Read</button>
</form></div></header>`;

function renderHead(result: ShownResult, title: string, context: RenderContext): Html {
  const { pageAssets } = context;
  const isPost = result.kind === 'post';
  return html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Perch</title>
${
  isPost
    ? renderPreviewTags(toThread(result.posts).main, result.url)
    : html`<meta name="description" content="${title}">`
}
${renderRelation(html`rel="canonical"`, originalOf(result) ?? result.urls.self)}
${!isPost && renderNeighbors(result, context)}
${listAlternates(result).map(({ type, name, url }) =>
  renderRelation(html`rel="alternate" type="${type}" title="${name}"`, url),
)}
${isPost && renderOEmbedLink(result)}
${
  pageAssets &&
  html`<link rel="icon" type="image/svg+xml" href="${pageAssets.iconUrl}">
<style>${new Html(pageAssets.styles)}</style>`
}`;
}

function renderNeighbors({ urls, next }: ListResult, { toOwnPage }: RenderContext) {
  const render = (rel: string, url: string | null | undefined) =>
    url && renderRelation(html`rel="${rel}"`, toOwnPage?.(url, null)?.url ?? url);
  return [render('prev', urls.previous), render('next', next?.url)];
}

function renderTools(result: ShownResult, context: RenderContext): Html {
  const url = originalOf(result);
  // Posts of the sample have no page on another platform.
  const original = url?.startsWith(`${context.baseUrl}/`) === true ? null : openLink(url);
  return html`<nav class="tools" aria-label="This page"><ul>${original && html`<li>${new Html(original)}${nameOriginal(result)}</a></li>`}<li><a href="${toShareUrl(result, context)}">Link to this page</a></li>${listAlternates(
    result,
  ).map(
    ({ name, url }) => html`<li><a href="${url}">${name}</a></li>`,
  )}</ul>${hasThreadKeys(result) && html`\n<p class="keys">Keys: <kbd>j</kbd> next post, <kbd>k</kbd> previous post</p>`}</nav>`;
}

/** Returns whether the keys `j` and `k` move between posts: there is more than one. */
const hasThreadKeys = (result: ShownResult): boolean =>
  result.kind === 'post' && result.posts.length > 1;

function originalOf(result: ShownResult): string | null {
  if (result.kind === 'post') return result.url;
  return result.subject.resource === 'search' ? null : result.subject.url;
}

function nameOriginal(result: ShownResult): string {
  const found = result.kind === 'post' ? toThread(result.posts).main : findSubject(result);
  return found ? `Open on ${platformNames[found.platform]}` : 'Open the original';
}

function findSubject({ subject }: ListResult) {
  if (subject.resource === 'search') return null;
  return subject.resource === 'replies' ? subject.answered : parseHandle(subject.handle);
}

function toShareUrl(result: ShownResult, { toOwnPage }: RenderContext): string {
  const { self } = result.urls;
  const isProfile = result.kind === 'browse' && result.subject.resource === 'profile';
  const hasPermalink = result.kind === 'post' || (isProfile && !self.includes('?'));
  const url = hasPermalink ? originalOf(result) : null;
  const page = url === null ? null : toOwnPage?.(url, mastodonHostOf(result));
  return page?.url ?? toFormatUrl(self, 'html');
}

function listAlternates(result: ShownResult) {
  const feeds = postsOf(result) === null ? [] : feedFormats;
  const others = [
    { format: 'markdown', type: 'text/markdown', name: 'Markdown' },
    { format: 'json', type: 'application/json', name: 'JSON' },
    ...feeds.map((format) => ({
      format,
      type: feedMediaTypes[format].split(';', 1).join(),
      name: feedNames[format],
    })),
  ] as const;
  return others.map(({ format, ...other }) => ({
    ...other,
    url: toFormatUrl(result.urls.self, format),
  }));
}

const feedNames = { atom: 'Atom', rss: 'RSS', jsonfeed: 'JSON Feed' } as const;
