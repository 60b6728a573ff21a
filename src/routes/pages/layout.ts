import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { parseQuery } from '../../lib/http/url.ts';
import { Problem } from '../../lib/problem.ts';
import { brandMark, type Html, type HtmlPart, html } from '../../render/html/markup.ts';
import { pictureSources } from '../../render/page/page.ts';
import type { Headers } from '../headers.ts';
import { type PreparedReply, prepareReply } from '../reply.ts';
import type { Assets } from './assets.ts';

export const docsPath = '/docs';

/** Path of the search; `/docs/search` is the documentation page about searching posts. */
export const findPath = `${docsPath}/find`;

/** Path of the question page, which requires `PERCH_SESSIONS=true` (the default). */
export const askPath = `${docsPath}/ask`;

export const assetPath = `${docsPath}/assets/`;

export const faviconPath = '/favicon.ico';

/** Maximum number of characters of a search text or question. */
export const maxQueryLength = 512;

export interface Site {
  readonly baseUrl: string;
  readonly assets: Assets;
  readonly hasAskPage?: boolean;
}

export interface Page {
  /** Title without the product name. */
  readonly title: string;
  readonly description: string;
  readonly path: string;
  readonly body: Html;
  /** Part before the element `<main>`, such as the navigation. */
  readonly aside?: Html;
  /** Section of the site, which the page header marks as current. */
  readonly section?: 'docs' | 'api' | 'find' | 'ask' | 'home';
  readonly kind?: string;
  readonly markdownPath?: string;
  /** File names of scripts besides those of all pages. */
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
  readonly robots?: 'index' | 'noindex';
  /** Default: the header and the footer of the site. */
  readonly surroundings?: { readonly header: Html; readonly footer: Html };
}

export function toLink(path: string, { baseUrl }: Site): string {
  return `${new URL(baseUrl).pathname.replace(/\/$/, '')}${path}`;
}

/** Renders a link to a path of this server. `attributes` starts with a space. */
export const renderLink = (path: string, text: string, site: Site, attributes?: HtmlPart): Html =>
  html`<a href="${toLink(path, site)}"${attributes}>${text}</a>`;

/** Renders a sentence. Parts in backticks become `code` elements. */
export function renderCode(sentence: string): Html {
  // `split` with a group returns text and code alternately.
  const parts = sentence.split(/`([^`]+)`/);
  return html`${parts.map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

/** Renders a page without inline scripts and styles, and without resources from other hosts. */
export function renderPage(page: Page, site: Site): string {
  const { header, footer } = page.surroundings ?? {};
  return html`<!doctype html>
<html lang="en">
${renderHead(page, site)}
<body class="${page.kind ?? 'page'}">
<a class="skip" href="#main">Skip to the content</a>
${header ?? renderHeader(page, site)}
<div class="frame">
${page.aside}
<main id="main" tabindex="-1">
${page.body}
</main>
</div>
${footer ?? renderFooter(footerText, footerLinks, site)}
</body>
</html>
`.toString();
}

function renderHead(page: Page, site: Site): Html {
  const { title, description, path, robots, markdownPath } = page;
  const asset = (name: string) => toLink(site.assets.pathOf(name), site);
  const styles = ['theme.css', 'site.css', 'text.css', 'find.css', ...(page.styles ?? [])];
  const scripts = ['site.js', 'find.js', ...(page.scripts ?? [])];
  return html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === 'Perch' ? title : `${title} · Perch`}</title>
<meta name="description" content="${description}">
${robots === 'noindex' && html`<meta name="robots" content="noindex">`}
<link rel="canonical" href="${site.baseUrl}${path}">
${markdownPath && html`<link rel="alternate" type="text/markdown" href="${toLink(markdownPath, site)}">`}
<link rel="icon" type="image/svg+xml" href="${asset('favicon.svg')}">
<script src="${asset('theme.js')}"></script>
${styles.map((name) => html`<link rel="stylesheet" href="${asset(name)}">\n`)}
${scripts.map((name) => html`<script src="${asset(name)}" defer></script>\n`)}
</head>`;
}

const sections = [
  { section: 'docs', path: docsPath, text: 'Docs' },
  { section: 'api', path: `${docsPath}/api`, text: 'API' },
  { section: 'ask', path: askPath, text: 'Ask' },
  { section: 'find', path: findPath, text: 'Search' },
] as const;

function renderHeader(page: Page, site: Site): Html {
  const isWhole = page.section === 'home' || sections.some(({ path }) => path === page.path);
  const mark = (section: string) =>
    page.section === section && html` aria-current="${isWhole ? 'page' : 'true'}"`;
  const shown = sections.filter(({ section }) => section !== 'ask' || site.hasAskPage === true);
  return html`<header class="site-header">
<div class="bar">
<a class="brand" href="${toLink('/', site)}"${mark('home')}>${brandMark}<span>Perch</span></a>
<nav aria-label="Site"><ul>${shown.map(
    ({ section, path, text }) =>
      html`<li><a class="to-${section}" href="${toLink(path, site)}"${mark(section)}>${text}</a></li>`,
  )}</ul></nav>
${renderQuickFind(page, site)}
${themeSwitch}
</div>
</header>`;
}

function renderQuickFind(page: Page, site: Site): Html {
  if (page.section === 'find') return html`<span class="quick-find"></span>`;
  return html`<form class="quick-find" role="search" aria-label="Quick search" action="${toLink(findPath, site)}" data-find>
<input type="search" name="q" aria-label="Search the documentation" placeholder="Search the docs" maxlength="${maxQueryLength}" autocomplete="off" spellcheck="false">
</form>`;
}

/** Button for the dark theme. It stays hidden without JavaScript. */
export const themeSwitch = html`<button class="theme" type="button" aria-label="Dark theme" aria-pressed="false" data-theme-switch hidden><svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><circle cx="12" cy="12" r="8.25" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M12 3.75a8.25 8.25 0 0 1 0 16.5z" fill="currentColor"/></svg></button>`;

type Links = readonly (readonly [path: string, text: string])[];

const footerText =
  'Perch reads public social posts and returns them as Markdown, JSON, web pages or feeds.';

const footerLinks: Links = [
  [`${docsPath}/start`, 'Start here'],
  [`${docsPath}/errors`, 'Errors'],
  [`${docsPath}/versioning`, 'Versioning'],
  ['/openapi.json', 'OpenAPI'],
];

export const renderFooter = (text: string, links: Links, site: Site): Html =>
  html`<footer class="site-footer">
<div class="bar">
<p>${text}</p>
<nav aria-label="Footer"><ul>${links.map(([path, name]) => html`<li>${renderLink(path, name, site)}</li>`)}</ul></nav>
</div>
</footer>`;

/** Returns page headers; `hasDirectPictures`: whether pages show pictures of other hosts. */
export const toHtmlHeaders = (hasDirectPictures = false) => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; ${pictureSources(hasDirectPictures)}; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy':
    'camera=(), clipboard-read=(), clipboard-write=(self), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'same-origin',
});

export const htmlHeaders = toHtmlHeaders();

const markdown = 'text/markdown; charset=utf-8';

const formatHeaders = {
  html: { ...htmlHeaders, vary: 'Accept' },
  markdown: { 'content-type': markdown, vary: 'Accept' },
  json: { 'content-type': 'application/json; charset=utf-8', vary: 'Accept' },
  source: { 'content-type': markdown },
} as const;

/** Prepares a reply with a page. Caches may store the page for a minute. */
export function preparePage(
  text: string,
  format: keyof typeof formatHeaders,
  headers: Headers = {},
): PreparedReply {
  const caching = { 'cache-control': 'public, max-age=60, stale-while-revalidate=300' };
  return prepareBody(text, { ...caching, ...formatHeaders[format], ...headers });
}

/** Prepares a reply with `Content-Length` and a strong `ETag` (RFC 9110 §8.8.3). */
export function prepareBody(content: string | Buffer, headers: Headers): PreparedReply {
  const body = Buffer.from(content);
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 27);
  return prepareReply(
    { ...headers, 'content-length': String(body.length), etag: `"${hash}"` },
    body,
  );
}

/**
 * Returns the parameter `q`, trimmed and without control characters; an empty string if it is
 * missing.
 * @throws Problem `invalid_option` if `q` is repeated, `invalid_query` if it is too long
 */
export function parseText({ raw }: FastifyRequest): string {
  const { q = '' } = parseQuery(raw.url ?? '');
  if (Array.isArray(q)) {
    throw new Problem('invalid_option', { detail: repeatedText, param: 'q' });
  }
  const text = q.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  if (text.length <= maxQueryLength) return text;
  const detail = `The text (parameter \`q\`) has ${text.length} characters. The maximum is ${maxQueryLength}.`;
  throw new Problem('invalid_query', { detail });
}

export const repeatedText = 'The address contains the text (parameter `q`) more than once.';
