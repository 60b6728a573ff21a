import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { parseQuery } from '../../lib/http/url.ts';
import { Problem } from '../../lib/problem.ts';
import { brandMark, escapeHtml } from '../../render/html/markup.ts';
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

/** Content of an HTML page. Members whose names end in `Html` are HTML, others plain text. */
export interface Page {
  /** Title without the product name. */
  readonly title: string;
  readonly description: string;
  readonly path: string;
  readonly bodyHtml: string;
  /** HTML before the element `<main>`, such as the navigation. */
  readonly asideHtml?: string;
  /** Section of the site, which the page header marks as current. */
  readonly section?: 'docs' | 'api' | 'find' | 'ask' | 'home';
  readonly kind?: string;
  readonly markdownPath?: string;
  /** File names of scripts besides those of all pages. */
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
  readonly robots?: 'index' | 'noindex';
  /** Default: the header and the footer of the site. */
  readonly surroundings?: { readonly headerHtml: string; readonly footerHtml: string };
}

export function toLink(path: string, { baseUrl }: Site): string {
  return `${new URL(baseUrl).pathname.replace(/\/$/, '')}${path}`;
}

/** Renders an HTML link to a path of this server. `attributes` is HTML that starts with a space. */
export function renderLink(path: string, text: string, site: Site, attributes = ''): string {
  return `<a href="${escapeHtml(toLink(path, site))}"${attributes}>${escapeHtml(text)}</a>`;
}

/** Escapes a sentence for HTML. Parts in backticks become `code` elements. */
export function renderCode(sentence: string): string {
  return escapeHtml(sentence).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** Renders a page without inline scripts and styles, and without resources from other hosts. */
export function renderPage(page: Page, site: Site): string {
  return `<!doctype html>
<html lang="en">
${renderHead(page, site)}
<body class="${escapeHtml(page.kind ?? 'page')}">
<a class="skip" href="#main">Skip to the content</a>
${page.surroundings?.headerHtml ?? renderHeader(page, site)}
<div class="frame">
${page.asideHtml ?? ''}
<main id="main" tabindex="-1">
${page.bodyHtml}
</main>
</div>
${page.surroundings?.footerHtml ?? renderFooter(site)}
</body>
</html>
`;
}

function renderHead(page: Page, site: Site): string {
  const asset = (name: string) => escapeHtml(toLink(site.assets.pathOf(name), site));
  const title = page.title === 'Perch' ? page.title : `${page.title} · Perch`;
  const toMarkdown = (path: string) =>
    `<link rel="alternate" type="text/markdown" href="${escapeHtml(toLink(path, site))}">`;
  const styles = ['theme.css', 'site.css', 'text.css', 'find.css', ...(page.styles ?? [])];
  const scripts = ['site.js', 'find.js', ...(page.scripts ?? [])];
  return [
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(title)}</title>`,
    `<meta name="description" content="${escapeHtml(page.description)}">`,
    ...(page.robots === 'noindex' ? ['<meta name="robots" content="noindex">'] : []),
    `<link rel="canonical" href="${escapeHtml(`${site.baseUrl}${page.path}`)}">`,
    ...(page.markdownPath === undefined ? [] : [toMarkdown(page.markdownPath)]),
    `<link rel="icon" type="image/svg+xml" href="${asset('favicon.svg')}">`,
    `<script src="${asset('theme.js')}"></script>`,
    ...styles.map((name) => `<link rel="stylesheet" href="${asset(name)}">`),
    ...scripts.map((name) => `<script src="${asset(name)}" defer></script>`),
    '</head>',
  ].join('\n');
}

const sections = [
  { section: 'docs', path: docsPath, text: 'Docs' },
  { section: 'api', path: `${docsPath}/api`, text: 'API' },
  { section: 'ask', path: askPath, text: 'Ask' },
  { section: 'find', path: findPath, text: 'Search' },
] as const;

function renderHeader(page: Page, site: Site): string {
  const current = (section: string) =>
    page.section === section
      ? ` aria-current="${sections.some(({ path }) => path === page.path) || section === 'home' ? 'page' : 'true'}"`
      : '';
  const links = sections
    .filter(({ section }) => section !== 'ask' || site.hasAskPage === true)
    .map(
      ({ section, path, text }) =>
        `<li><a class="to-${section}" href="${escapeHtml(toLink(path, site))}"${current(section)}>${text}</a></li>`,
    );
  return `<header class="site-header">
<div class="bar">
<a class="brand" href="${escapeHtml(toLink('/', site))}"${current('home')}>${brandMark}<span>Perch</span></a>
<nav aria-label="Site"><ul>${links.join('')}</ul></nav>
${renderQuickFind(page, site)}
${themeSwitch}
</div>
</header>`;
}

function renderQuickFind(page: Page, site: Site): string {
  if (page.section === 'find') return '<span class="quick-find"></span>';
  return `<form class="quick-find" role="search" aria-label="Quick search" action="${escapeHtml(toLink(findPath, site))}" data-find>
<input type="search" name="q" aria-label="Search the documentation" placeholder="Search the docs" maxlength="${maxQueryLength}" autocomplete="off" spellcheck="false">
</form>`;
}

const themeIcon =
  '<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><circle cx="12" cy="12" r="8.25" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M12 3.75a8.25 8.25 0 0 1 0 16.5z" fill="currentColor"/></svg>';

/** Button for the dark theme. It stays hidden without JavaScript. */
export const themeSwitch = `<button class="theme" type="button" aria-label="Dark theme" aria-pressed="false" data-theme-switch hidden>${themeIcon}</button>`;

function renderFooter(site: Site): string {
  const links = [
    [`${docsPath}/start`, 'Start here'],
    [`${docsPath}/errors`, 'Errors'],
    [`${docsPath}/versioning`, 'Versioning'],
    ['/openapi.json', 'OpenAPI'],
  ] as const;
  const items = links.map(([path, text]) => `<li>${renderLink(path, text, site)}</li>`);
  return `<footer class="site-footer">
<div class="bar">
<p>Perch reads public social posts and returns them as Markdown, JSON, web pages or feeds.</p>
<nav aria-label="Footer"><ul>${items.join('')}</ul></nav>
</div>
</footer>`;
}

const toContentSecurityPolicy = (pictures: string) =>
  `default-src 'none'; script-src 'self'; style-src 'self'; ${pictures}; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

const permissionsPolicy =
  'camera=(), clipboard-read=(), clipboard-write=(self), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()';

/** Returns page headers; `hasDirectPictures`: whether pages show pictures of other hosts. */
export const toHtmlHeaders = (hasDirectPictures: boolean) => ({
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': toContentSecurityPolicy(pictureSources(hasDirectPictures)),
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': permissionsPolicy,
  'referrer-policy': 'same-origin',
});

export const htmlHeaders = toHtmlHeaders(false);

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
