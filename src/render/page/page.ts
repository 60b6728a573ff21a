import type { Steps } from '../../core/scheduling/slices.ts';
import { type BrowseResult, feedFormats, type PostResult } from '../../model/results.ts';
import type { RenderContext } from '../context.ts';
import { postsOf } from '../feeds/feed.ts';
import { feedMediaTypes } from '../feeds/feeds.ts';
import { toFormatUrl } from '../feeds/urls.ts';
import { escapeHtml, escapeLine, openLink } from '../html/escape.ts';
import { joinParts, renderTime } from '../html/markup.ts';
import { toThread } from '../markdown/thread.ts';
import { renderPreviewTags, renderRelation } from '../preview-page.ts';
import { brandMark } from './brand-mark.ts';
import { renderResult } from './result.ts';

/**
 * Renders a result as an HTML page without scripts or external style sheets. Yields after each post
 * to let other tasks run.
 */
export function* renderHtmlPage(
  result: PostResult | BrowseResult,
  context: RenderContext,
): Steps<string> {
  const { title, html } = yield* renderResult(result, { ...context, level: 1 });
  return `<!doctype html>
<html lang="en">
<head>
${renderHead(result, title, context)}
</head>
<body class="result-page">
<header class="site-header"><div class="bar"><a class="brand" href="${escapeHtml(`${context.baseUrl}/`)}">${brandMark}<span>Perch</span></a></div></header>
<div class="frame">
<main class="rendered">
${html}</main>
</div>
${renderFooter(result, context)}
</body>
</html>
`;
}

/**
 * Returns the response headers of HTML pages. The Content-Security-Policy allows the embedded styles, and pictures
 * that come from this server or from `data:` URLs. It forbids all other resources.
 */
export function toPageHeaders({
  pageAssets,
  hasDirectPictures,
}: RenderContext): Readonly<Record<string, string>> {
  const styles = pageAssets === undefined ? '' : ` style-src '${pageAssets.stylesHash}';`;
  const pictures = pictureSources(hasDirectPictures);
  return {
    'content-security-policy': `default-src 'none';${styles} ${pictures}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'referrer-policy': 'same-origin',
  };
}

/** Returns the directive of a Content-Security-Policy for pictures. `isDirect`: whether other hosts are allowed. */
export const pictureSources = (isDirect = false): string =>
  `img-src 'self' data:${isDirect ? ' https:' : ''}`;

type ShownResult = PostResult | BrowseResult;

function renderHead(result: ShownResult, title: string, { pageAssets }: RenderContext): string {
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

/** Returns the URL of a result on its social platform; `null` for a search. */
function originalOf(result: ShownResult): string | null {
  if (result.kind === 'post') return result.url;
  return result.subject.resource === 'search' ? null : result.subject.url;
}

/**
 * Returns the URL, media type and name of each format of a result except HTML, for the `link`
 * elements of the HTML page.
 */
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

function renderFooter(result: ShownResult, { baseUrl }: RenderContext): string {
  const url = originalOf(result);
  // Posts of the sample have no page on another platform.
  const original = url?.startsWith(`${baseUrl}/`) === true ? null : openLink(url);
  const links = [
    ...(original === null ? [] : [`${original}Original</a>`]),
    ...listAlternates(result).map(({ name, url }) => `<a href="${escapeHtml(url)}">${name}</a>`),
  ].map((link) => `<li>${link}</li>`);
  return `<footer class="site-footer">
<div class="bar">
<p>Read from ${escapeLine(result.source)}, ${renderTime(result.fetchedAt)}.</p>
<nav aria-label="Other formats"><ul>${links.join('')}</ul></nav>
</div>
</footer>`;
}
