import { parseHandle, platformNames } from '../../model/reference.ts';
import { feedFormats, type ListResult, type PostResult } from '../../model/results.ts';
import type { RenderContext } from '../context.ts';
import { feedMediaTypes, postsOf } from '../feeds/feeds.ts';
import { toFormatUrl } from '../feeds/urls.ts';
import {
  brandMark,
  escapeHtml,
  escapeLine,
  joinParts,
  openLink,
  renderTime,
} from '../html/markup.ts';
import { toThread } from '../markdown/thread.ts';
import { renderPreviewTags, renderRelation } from '../preview-page.ts';
import { renderResult } from './result.ts';
import { mastodonHostOf } from './view.ts';

type ShownResult = PostResult | ListResult;

/** Renders a page with embedded styles that needs no script. */
export function renderHtmlPage(result: ShownResult, context: RenderContext): string {
  const { title, html } = renderResult(result, { ...context, level: 1 });
  const script = findScript(result, context);
  return `<!doctype html>
<html lang="en">
<head>
${renderHead(result, title, context)}
</head>
<body class="result-page">
${renderHeader(context)}
<div class="frame">
${renderTools(result, context)}
<main class="rendered">
${html}</main>
</div>
${renderFooter(result)}
${script === null ? '' : `<script>${script.text}</script>\n`}</body>
</html>
`;
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

function renderHeader({ baseUrl }: RenderContext): string {
  const home = escapeHtml(`${baseUrl}/`);
  return `<header class="site-header"><div class="bar"><a class="brand" href="${home}">${brandMark}<span>Perch</span></a>
<form class="paste" role="search" aria-label="Read another" action="${home}#result">
<input type="text" name="q" aria-label="Link to a post, profile or search, an @handle, or words to search for" placeholder="Link, @handle or words" dir="auto" inputmode="url" required maxlength="2048" autocomplete="off" autocapitalize="off" spellcheck="false">
<button type="submit">Read</button>
</form></div></header>`;
}

function renderHead(result: ShownResult, title: string, context: RenderContext): string {
  const { pageAssets } = context;
  const description = `<meta name="description" content="${escapeLine(title)}">`;
  return joinParts([
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="robots" content="noindex">',
    `<title>${escapeLine(title)} · Perch</title>`,
    result.kind === 'post'
      ? renderPreviewTags(toThread(result.posts).main, result.url)
      : description,
    renderRelation('rel="canonical"', originalOf(result) ?? result.urls.self),
    ...listNeighbors(result, context),
    ...listAlternates(result).map(({ type, name, url }) =>
      renderRelation(`rel="alternate" type="${type}" title="${name}"`, url),
    ),
    result.kind === 'post'
      ? renderRelation('rel="alternate" type="application/json+oembed"', result.embedUrl)
      : '',
    ...(pageAssets === undefined
      ? []
      : [
          `<link rel="icon" type="image/svg+xml" href="${escapeHtml(pageAssets.iconUrl)}">`,
          `<style>${pageAssets.styles}</style>`,
        ]),
  ]);
}

function listNeighbors(result: ShownResult, { toOwnPage }: RenderContext): readonly string[] {
  if (result.kind === 'post') return [];
  const { urls, next } = result;
  const neighbors = [
    ['prev', urls.previous],
    ['next', next?.url ?? null],
  ] as const;
  return neighbors.flatMap(([rel, url]) =>
    url === null ? [] : [renderRelation(`rel="${rel}"`, toOwnPage?.(url, null)?.url ?? url)],
  );
}

const renderFooter = ({ source, fetchedAt }: ShownResult): string => `<footer class="site-footer">
<div class="bar"><p>Read from ${escapeLine(source)}, ${renderTime(fetchedAt)}.</p></div>
</footer>`;

function renderTools(result: ShownResult, context: RenderContext): string {
  const url = originalOf(result);
  // Posts of the sample have no page on another platform.
  const original = url?.startsWith(`${context.baseUrl}/`) === true ? null : openLink(url);
  const share = escapeHtml(toShareUrl(result, context));
  const links = [
    ...(original === null ? [] : [`${original}${nameOriginal(result)}</a>`]),
    `<a href="${share}">Link to this page</a>`,
    ...listAlternates(result).map(({ name, url }) => `<a href="${escapeHtml(url)}">${name}</a>`),
  ].map((link) => `<li>${link}</li>`);
  const keys = hasThreadKeys(result)
    ? '\n<p class="keys">Keys: <kbd>j</kbd> next post, <kbd>k</kbd> previous post</p>'
    : '';
  return `<nav class="tools" aria-label="This page"><ul>${links.join('')}</ul>${keys}</nav>`;
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
