import { escapeHtml } from '../../render/html/escape.ts';
import type { Assets } from './assets.ts';
import { brandMark } from './brand-mark.ts';
import { askPath, docsPath, findPath, maxQueryLength } from './paths.ts';

/** What pages are made with. */
export interface Site {
  /** Perch's own address, without a trailing slash. */
  readonly baseUrl: string;
  readonly assets: Assets;
  /** Whether the documentation can be asked; default: no. */
  readonly canBeAsked?: boolean;
}

/** A page, without what all pages have. Every member that ends in `Html` is HTML, the others are text. */
export interface Page {
  /** Its own title; the name of the product is added where it is not the title itself. */
  readonly title: string;
  /** One or two sentences for search engines and previews. */
  readonly description: string;
  /** Its path, such as `/docs/keys`. */
  readonly path: string;
  /** The content of `<main>`; it begins with the page's `<h1>`, or with what stands above it. */
  readonly bodyHtml: string;
  /** What stands beside `<main>`, such as the navigation of a section. */
  readonly asideHtml?: string;
  /** Which link of the header is the page's own. */
  readonly section?: 'docs' | 'find' | 'ask' | 'home';
  /** A class of the page, for its own styles. */
  readonly kind?: string;
  /** Path of the same in Markdown. */
  readonly markdownPath?: string;
  /** Names of assets beside those of all pages. */
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
  /** For pages that search engines need not list; default: `index`. */
  readonly robots?: 'index' | 'noindex';
}

/** Gives the path under which a browser finds a path of ours, behind a proxy that adds a prefix too. */
export function toLink(path: string, { baseUrl }: Site): string {
  return `${new URL(baseUrl).pathname.replace(/\/$/, '')}${path}`;
}

/**
 * Gives the HTML of a page: the head, the header with the links of the site, the content, the footer.
 * It has no script and no style in itself, and asks for nothing from elsewhere.
 */
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

/** `theme.js` comes before the styles: a chosen theme is set before anything is painted. */
function renderHead(page: Page, site: Site): string {
  const asset = (name: string) => escapeHtml(toLink(site.assets.pathOf(name), site));
  const title = page.title === 'Perch' ? page.title : `${page.title} · Perch`;
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
    ...renderAlternate(page, site),
    `<link rel="icon" type="image/svg+xml" href="${asset('favicon.svg')}">`,
    `<script src="${asset('theme.js')}"></script>`,
    ...styles.map((name) => `<link rel="stylesheet" href="${asset(name)}">`),
    ...scripts.map((name) => `<script src="${asset(name)}" defer></script>`),
    '</head>',
  ].join('\n');
}

function renderAlternate({ markdownPath }: Page, site: Site): readonly string[] {
  if (markdownPath === undefined) return [];
  const href = escapeHtml(toLink(markdownPath, site));
  return [`<link rel="alternate" type="text/markdown" href="${href}">`];
}

const sections = [
  { section: 'docs', path: docsPath, text: 'Docs' },
  { section: 'api', path: '/api', text: 'API' },
  { section: 'ask', path: askPath, text: 'Ask' },
  { section: 'find', path: findPath, text: 'Search' },
] as const;

function renderHeader(page: Page, site: Site): string {
  const current = (section: string) =>
    page.section === section
      ? ` aria-current="${sections.some(({ path }) => path === page.path) || section === 'home' ? 'page' : 'true'}"`
      : '';
  const links = sections
    .filter(({ section }) => section !== 'ask' || site.canBeAsked === true)
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

/** The page of the search has a larger one of its own. */
function renderQuickFind(page: Page, site: Site): string {
  if (page.section === 'find') return '<span class="quick-find"></span>';
  return `<form class="quick-find" role="search" aria-label="Quick search" action="${escapeHtml(toLink(findPath, site))}" data-find>
<input type="search" name="q" aria-label="Search the documentation" placeholder="Search the docs" maxlength="${maxQueryLength}" autocomplete="off" spellcheck="false">
</form>`;
}

const themeIcon =
  '<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><circle cx="12" cy="12" r="8.25" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M12 3.75a8.25 8.25 0 0 1 0 16.5z" fill="currentColor"/></svg>';

function renderFooter(site: Site): string {
  const link = (path: string, text: string) =>
    `<li><a href="${escapeHtml(toLink(path, site))}">${text}</a></li>`;
  return `<footer class="site-footer">
<div class="bar">
<p>Perch reads public social posts and answers with Markdown or JSON.</p>
<nav aria-label="Footer"><ul>${[
    link(`${docsPath}/start`, 'Start here'),
    link(`${docsPath}/errors`, 'Errors'),
    link(`${docsPath}/versioning`, 'Versioning'),
    link('/openapi.json', 'OpenAPI'),
  ].join('')}</ul></nav>
</div>
</footer>`;
}
