import type { BrowseResult, PostResult } from '../../model/results.ts';
import type { RenderContext } from '../context.ts';
import { escapeHtml, escapeLine } from '../html/escape.ts';
import { joinParts, renderTime } from '../html/markup.ts';
import { toThread } from '../markdown/thread.ts';
import { renderPreviewTags, renderRelation } from '../preview-page.ts';
import { brandMark } from './brand-mark.ts';
import { renderResult } from './result.ts';
import { hasThreadKeys, listAlternates, originalOf, renderTools } from './tools.ts';

type ShownResult = PostResult | BrowseResult;

/** Renders a page with embedded styles that needs no script; yields after each post. */
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

/** Returns the script that moves between posts; `null` for other pages. */
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
