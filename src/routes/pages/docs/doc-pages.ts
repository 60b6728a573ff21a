import { posix } from 'node:path';
import { escapeHtml } from '../../../render/html/markup.ts';
import { docsPath, type Page, renderLink, type Site, toLink } from '../layout.ts';
import type { Library, LibraryPage } from './library.ts';
import type { DocumentSection, MarkdownDocument, ResolveLink } from './markdown.ts';
import { isApiPage } from './navigation.ts';

export type DocSite = Site & { readonly library: Library };

export function toDocPath({ name }: LibraryPage): string {
  return `${docsPath}/${name}`;
}

/** Creates a function that converts relative links of a page to links between HTML pages. */
export function createLinks(site: DocSite, from: LibraryPage): ResolveLink {
  return (target) => {
    if (target.startsWith('/')) return toLink(target, site);
    const [, name = '', fragment = ''] = /^([\w./-]+)\.md(#.*)?$/.exec(target) ?? [];
    const page = site.library.find(posix.join(posix.dirname(from.name), name));
    return page === undefined ? null : `${toLink(toDocPath(page), site)}${fragment}`;
  };
}

const common = { section: 'docs', styles: ['docs.css'], scripts: ['copy.js', 'docs.js'] } as const;

export function describeDocPage(
  page: LibraryPage,
  { html, sections }: MarkdownDocument,
  site: DocSite,
): Page {
  const path = toDocPath(page);
  const contents = renderContents(sections);
  const title = sections.find(({ heading }) => heading.level === 1);
  const titleId = title === undefined ? '' : ` id="${escapeHtml(title.heading.id)}"`;
  return {
    ...common,
    section: isApiPage(page.name) ? 'api' : 'docs',
    title: page.title,
    description: `${page.summary}.`,
    path,
    kind: 'docs',
    markdownPath: `${path}.md`,
    asideHtml: renderNavigation(site, page),
    bodyHtml: `${contents === '' ? '' : `<nav class="contents" aria-label="On this page"><p>On this page</p>${contents}</nav>`}
<article>
<p class="crumbs">${renderLink(docsPath, 'Docs', site)} <span aria-hidden="true">/</span> ${escapeHtml(page.group)}</p>
<h1${titleId}>${escapeHtml(page.title)}</h1>
<p class="page-tools"><button type="button" data-copies-url="${escapeHtml(toLink(`${path}.md`, site))}" hidden>Copy as Markdown</button> ${renderLink(`${path}.md`, 'View as Markdown', site)}</p>
${contents === '' ? '' : `<details class="contents-menu"><summary>On this page</summary><nav aria-label="On this page">${contents}</nav></details>`}
${html}
${renderNeighbours(page, site)}
</article>`,
  };
}

function renderNavigation(site: DocSite, current: LibraryPage | null): string {
  const groups = site.library.groups.map(({ title, pages }) => {
    const links = pages.map((page) => {
      const mark = page === current ? ' aria-current="page"' : '';
      return `<li>${renderLink(toDocPath(page), page.title, site, mark)}</li>`;
    });
    return `<li><p>${escapeHtml(title)}</p><ul>${links.join('')}</ul></li>`;
  });
  const list = `<ul>${groups.join('')}</ul>`;
  return `<details class="docs-menu">
<summary>All pages</summary>
<nav aria-label="Documentation">${list}</nav>
</details>
<nav class="docs-nav" aria-label="Documentation">${list}</nav>`;
}

function renderContents(sections: readonly DocumentSection[]): string {
  const links = sections
    .filter(({ heading }) => heading.level === 2 || heading.level === 3)
    .map(
      ({ heading: { id, text, level } }) =>
        `<li class="level-${level}"><a href="#${escapeHtml(id)}">${escapeHtml(text)}</a></li>`,
    );
  return links.length < 2 ? '' : `<ul>${links.join('')}</ul>`;
}

function renderNeighbours(page: LibraryPage, site: DocSite): string {
  const { pages } = site.library;
  const at = pages.indexOf(page);
  const render = (rel: string, label: string, other: LibraryPage | undefined) =>
    other === undefined
      ? ''
      : `<a class="${rel}" rel="${rel}" href="${escapeHtml(toLink(toDocPath(other), site))}"><span>${label}</span> ${escapeHtml(other.title)}</a>`;
  return `<nav class="neighbours" aria-label="Previous and next page">
${render('prev', 'Previous', pages[at - 1])}
${render('next', 'Next', pages[at + 1])}
</nav>`;
}

const indexTitle = 'Documentation';
const introduction =
  'Perch reads public social posts and returns them as Markdown, JSON, web pages or feeds. These pages describe its requests and responses, and how to run your own server.';

export function describeDocsIndex(site: DocSite): Page {
  const groups = site.library.groups.map(({ title, pages }) => {
    const cards = pages.map(
      (page) =>
        `<li>${renderLink(toDocPath(page), page.title, site)}<p>${escapeHtml(page.summary)}.</p></li>`,
    );
    return `<section><h2>${escapeHtml(title)}</h2><ul class="cards">${cards.join('')}</ul></section>`;
  });
  return {
    ...common,
    title: indexTitle,
    description: introduction,
    path: docsPath,
    kind: 'docs docs-index',
    asideHtml: renderNavigation(site, null),
    bodyHtml: `<h1>${indexTitle}</h1>
<p class="lead">${introduction}</p>
${groups.join('\n')}`,
  };
}

/** Renders the list of pages, with links to the Markdown version of each page. */
export function writeDocsIndex({ library, baseUrl }: DocSite): string {
  const groups = library.groups.map(({ title, pages }) => {
    const items = pages.map(
      (page) => `- [${page.title}](${baseUrl}${toDocPath(page)}.md): ${page.summary}.`,
    );
    return `## ${title}\n\n${items.join('\n')}\n`;
  });
  return `# ${indexTitle}\n\n${introduction}\n\n${groups.join('\n')}`;
}
