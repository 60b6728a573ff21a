import { escapeHtml } from '../../../render/html/escape.ts';
import { type Page, type Site, toLink } from '../layout.ts';
import { docsPath } from '../paths.ts';
import type { Library, LibraryPage } from './library.ts';
import type { Heading, MarkdownDocument, ResolveLink } from './markdown.ts';

/** Gives the path of a page of the documentation. */
export function toDocPath({ name }: LibraryPage): string {
  return `${docsPath}/${name}`;
}

/** What pages of the documentation are made with. */
export interface DocSite extends Site {
  readonly library: Library;
}

/** Gives how relative links between the files of `docs/` lead from page to page. */
export function createLinks(site: DocSite): ResolveLink {
  return (target) => {
    if (target.startsWith('/')) return toLink(target, site);
    const [, name = '', fragment = ''] = /^(?:\.\/)?([\w-]+)\.md(#.*)?$/.exec(target) ?? [];
    const page = site.library.find(name);
    return page === undefined ? null : `${toLink(toDocPath(page), site)}${fragment}`;
  };
}

/** Gives a page of the documentation, of its file. */
export function describeDocPage(
  page: LibraryPage,
  { html, sections }: MarkdownDocument,
  site: DocSite,
): Page {
  const path = toDocPath(page);
  const contents = sections
    .map(({ heading }) => heading)
    .filter(({ level }) => level === 2 || level === 3);
  return {
    title: page.title,
    description: `${page.summary}.`,
    path,
    kind: 'docs',
    section: 'docs',
    styles: ['docs.css'],
    scripts: ['copy.js', 'docs.js'],
    markdownPath: `${path}.md`,
    asideHtml: renderNavigation(site, page),
    bodyHtml: `${renderContents(contents, 'wide')}
<article>
${renderCrumbs(page, site)}
<h1${titleId(sections)}>${escapeHtml(page.title)}</h1>
${renderContents(contents, 'folded')}
${html}
${renderNeighbours(page, site)}
</article>`,
  };
}

/** The first heading of the file; links lead to it as to any other. */
function titleId(sections: MarkdownDocument['sections']): string {
  const title = sections.find(({ heading }) => heading.level === 1);
  return title === undefined ? '' : ` id="${escapeHtml(title.heading.id)}"`;
}

/** Gives the navigation twice: for wide windows, and folded for narrow ones. CSS shows one of them. */
export function renderNavigation(site: DocSite, current: LibraryPage | null): string {
  const groups = site.library.groups.map(({ title, pages }) => {
    const links = pages.map((page) => renderNavigationLink(page, site, current));
    return `<li><p>${escapeHtml(title)}</p><ul>${links.join('')}</ul></li>`;
  });
  const list = `<ul>${groups.join('')}</ul>`;
  return `<details class="docs-menu">
<summary>All pages</summary>
<nav aria-label="Documentation">${list}</nav>
</details>
<nav class="docs-nav" aria-label="Documentation">${list}</nav>`;
}

function renderNavigationLink(
  page: LibraryPage,
  site: DocSite,
  current: LibraryPage | null,
): string {
  const mark = page === current ? ' aria-current="page"' : '';
  const href = escapeHtml(toLink(toDocPath(page), site));
  return `<li><a href="${href}"${mark}>${escapeHtml(page.title)}</a></li>`;
}

function renderContents(headings: readonly Heading[], form: 'wide' | 'folded'): string {
  if (headings.length < 2) return '';
  const links = headings.map(
    ({ id, text, level }) =>
      `<li class="level-${level}"><a href="#${escapeHtml(id)}">${escapeHtml(text)}</a></li>`,
  );
  const list = `<ul>${links.join('')}</ul>`;
  return form === 'wide'
    ? `<nav class="contents" aria-label="On this page"><p>On this page</p>${list}</nav>`
    : `<details class="contents-menu"><summary>On this page</summary><nav aria-label="On this page">${list}</nav></details>`;
}

function renderCrumbs({ group }: LibraryPage, site: DocSite): string {
  const href = escapeHtml(toLink(docsPath, site));
  return `<p class="crumbs"><a href="${href}">Docs</a> <span aria-hidden="true">/</span> ${escapeHtml(group)}</p>`;
}

function renderNeighbours(page: LibraryPage, site: DocSite): string {
  const { pages } = site.library;
  const at = pages.indexOf(page);
  const source = escapeHtml(toLink(`${toDocPath(page)}.md`, site));
  return `<p class="source"><a href="${source}">This page as Markdown</a></p>
<nav class="neighbours" aria-label="Previous and next page">
${renderNeighbour(pages[at - 1], 'Previous', site)}
${renderNeighbour(pages[at + 1], 'Next', site)}
</nav>`;
}

function renderNeighbour(
  page: LibraryPage | undefined,
  label: 'Previous' | 'Next',
  site: DocSite,
): string {
  if (page === undefined) return '';
  const rel = label === 'Next' ? 'next' : 'prev';
  return `<a class="${rel}" rel="${rel}" href="${escapeHtml(toLink(toDocPath(page), site))}"><span>${label}</span> ${escapeHtml(page.title)}</a>`;
}
