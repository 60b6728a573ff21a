import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { parseQuery } from '../../core/http/query.ts';
import { Problem } from '../../core/problem.ts';
import { escapeHtml } from '../../render/html/escape.ts';
import type { Headers } from '../../web/headers.ts';
import { type PreparedReply, prepareReply } from '../../web/reply.ts';
import type { Assets } from './assets.ts';

export const docsPath = '/docs';

/** Path of the search in the documentation. (`/docs/search` is the page about searching posts.) */
export const findPath = `${docsPath}/find`;

/** Path of the page that answers questions, on servers with sessions. */
export const askPath = `${docsPath}/ask`;

export const assetPath = `${docsPath}/assets/`;

export const faviconPath = '/favicon.ico';

/** Maximum number of characters of a search text and of a question. */
export const maxQueryLength = 512;

/** Logo in the colours of the page. `assets/favicon.svg` is the same drawing in its own colours. */
export const brandMark =
  '<svg class="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><path class="mark-perch" d="M3 27.5h26"/><path class="mark-bird" d="M4.5 10.6l6-1.9C11.6 5.9 14.1 4.2 17 4.2c4.1 0 7 3 7.3 7.2.3 4.6 1.3 8.1 4.7 11.9-4 .6-7.2.2-9.6-1.2-1.1.5-2.4.7-3.7.6-5.1-.3-8.3-4-7.7-9.3z"/><path class="mark-wing" d="M16.2 13.2c3.4.3 5.7 3.3 5.9 7.8-3.7-.3-6.3-3.3-5.9-7.8z"/><path class="mark-leg" d="M15.3 22.4v5M19 22v5.4"/><circle class="mark-eye" cx="15.6" cy="9.3" r="1.2"/></svg>';

export interface Site {
  readonly baseUrl: string;
  readonly assets: Assets;
  readonly hasAskPage?: boolean;
}

/** Parts of a page that differ from other pages. Members that end in `Html` are HTML, the others are text. */
export interface Page {
  /** Title without the name of the product. */
  readonly title: string;
  readonly description: string;
  readonly path: string;
  readonly bodyHtml: string;
  /** Content next to `<main>`. */
  readonly asideHtml?: string;
  /** Section of the page, whose link in the header is marked as the current one. */
  readonly section?: 'docs' | 'api' | 'find' | 'ask' | 'home';
  readonly kind?: string;
  readonly markdownPath?: string;
  /** Scripts in addition to those that all pages load. */
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
  readonly robots?: 'index' | 'noindex';
}

/** Returns the path for links in pages, which starts with the path of the base URL. */
export function toLink(path: string, { baseUrl }: Site): string {
  return `${new URL(baseUrl).pathname.replace(/\/$/, '')}${path}`;
}

/** Renders a link to a path of this server. `attributes` is HTML that starts with a space. */
export function renderLink(path: string, text: string, site: Site, attributes = ''): string {
  return `<a href="${escapeHtml(toLink(path, site))}"${attributes}>${escapeHtml(text)}</a>`;
}

/** Escapes a sentence, and renders its parts in backticks as code. */
export function renderCode(sentence: string): string {
  return escapeHtml(sentence).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** Renders a whole page. It has no inline scripts or styles and makes no requests to other hosts. */
export function renderPage(page: Page, site: Site): string {
  return `<!doctype html>
<html lang="en">
${renderHead(page, site)}
<body class="${escapeHtml(page.kind ?? 'page')}">
<a class="skip" href="#main">Skip to the content</a>
${renderHeader(page, site)}
<div class="frame">
${page.asideHtml ?? ''}
<main id="main" tabindex="-1">
${page.bodyHtml}
</main>
</div>
${renderFooter(site)}
</body>
</html>
`;
}

/** Renders the head. `theme.js` precedes the styles, so that the chosen theme is set before the first paint. */
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
<button class="theme" type="button" aria-label="Dark theme" aria-pressed="false" data-theme-switch hidden>${themeIcon}</button>
</div>
</header>`;
}

/** Renders the search form of the header, except on the search page, which has a larger form. */
function renderQuickFind(page: Page, site: Site): string {
  if (page.section === 'find') return '<span class="quick-find"></span>';
  return `<form class="quick-find" role="search" aria-label="Quick search" action="${escapeHtml(toLink(findPath, site))}" data-find>
<input type="search" name="q" aria-label="Search the documentation" placeholder="Search the docs" maxlength="${maxQueryLength}" autocomplete="off" spellcheck="false">
</form>`;
}

const themeIcon =
  '<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><circle cx="12" cy="12" r="8.25" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M12 3.75a8.25 8.25 0 0 1 0 16.5z" fill="currentColor"/></svg>';

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
<p>Perch reads public social posts and answers with Markdown or JSON.</p>
<nav aria-label="Footer"><ul>${items.join('')}</ul></nav>
</div>
</footer>`;
}

/** Policy that allows only files of this server, no inline scripts or styles, and no framing (CSP Level 3). */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Policy that allows only writing to the clipboard, for copy buttons. */
const permissionsPolicy =
  'camera=(), clipboard-read=(), clipboard-write=(self), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()';

export const htmlHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': permissionsPolicy,
  'referrer-policy': 'same-origin',
} as const;

const markdown = 'text/markdown; charset=utf-8';

/** Headers of pages by format. `source` is Markdown at a URL that has no other format. */
const formatHeaders = {
  html: { ...htmlHeaders, vary: 'Accept' },
  markdown: { 'content-type': markdown, vary: 'Accept' },
  json: { 'content-type': 'application/json; charset=utf-8', vary: 'Accept' },
  source: { 'content-type': markdown },
} as const;

/** Prepares the reply of a page, which caches may store for a minute. */
export function preparePage(
  text: string,
  format: keyof typeof formatHeaders,
  headers: Headers = {},
): PreparedReply {
  const caching = { 'cache-control': 'public, max-age=60, stale-while-revalidate=300' };
  return prepareBody(text, { ...caching, ...formatHeaders[format], ...headers });
}

/** Prepares a reply with its length and a strong entity tag (RFC 9110 §8.8.3), which is a hash of the body. */
export function prepareBody(content: string | Buffer, headers: Headers): PreparedReply {
  const body = Buffer.from(content);
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 27);
  return prepareReply(
    { ...headers, 'content-length': String(body.length), etag: `"${hash}"` },
    body,
  );
}

/**
 * Returns the parameter `q`, trimmed and without control characters; an empty string if `q` is missing.
 * @throws Problem `invalid_option` if `q` is repeated, `invalid_query` if `q` is too long
 */
export function parseText({ raw }: FastifyRequest): string {
  const { q = '' } = parseQuery(raw.url ?? '');
  if (Array.isArray(q)) {
    throw new Problem('invalid_option', { detail: repeatedText });
  }
  const text = q.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  if (text.length <= maxQueryLength) return text;
  const detail = `The text (parameter \`q\`) has ${text.length} characters. The maximum is ${maxQueryLength}.`;
  throw new Problem('invalid_query', { detail });
}

/** Problem detail for a repeated `q`. It is worded for people, and names the parameter for programs. */
export const repeatedText = 'The address contains the text (parameter `q`) more than once.';
