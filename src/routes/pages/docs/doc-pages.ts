import { posix } from 'node:path';
import { Html, html } from '../../../render/html/markup.ts';
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
  { html: content, sections }: MarkdownDocument,
  site: DocSite,
): Page {
  const path = toDocPath(page);
  const source = `${path}.md`;
  const contents = renderContents(sections);
  const title = sections.find(({ heading }) => heading.level === 1);
  return {
    ...common,
    section: isApiPage(page.name) ? 'api' : 'docs',
    title: page.title,
    description: `${page.summary}.`,
    path,
    kind: 'docs',
    markdownPath: source,
    aside: renderNavigation(site, page),
    body: html`${contents && html`<nav class="contents" aria-label="On this page"><p>On this page</p>${contents}</nav>`}
<article>
<p class="crumbs">${renderLink(docsPath, 'Docs', site)} <span aria-hidden="true">/</span> ${page.group}</p>
<h1${title && html` id="${title.heading.id}"`}>${page.title}</h1>
<p class="page-tools"><button type="button" data-copies-url="${toLink(source, site)}" hidden>Copy as Markdown</button> ${renderLink(source, 'View as Markdown', site)}</p>
${contents && html`<details class="contents-menu"><summary>On this page</summary><nav aria-label="On this page">${contents}</nav></details>`}
${new Html(content)}
${renderNeighbours(page, site)}
</article>`,
  };
}

function renderNavigation(site: DocSite, current: LibraryPage | null): Html {
  const render = (page: LibraryPage) =>
    html`<li>${renderLink(toDocPath(page), page.title, site, page === current && html` aria-current="page"`)}</li>`;
  const list = html`<ul>${site.library.groups.map(
    ({ title, pages }) => html`<li><p>${title}</p><ul>${pages.map(render)}</ul></li>`,
  )}</ul>`;
  return html`<details class="docs-menu">
<summary>All pages</summary>
<nav aria-label="Documentation">${list}</nav>
</details>
<nav class="docs-nav" aria-label="Documentation">${list}</nav>`;
}

function renderContents(sections: readonly DocumentSection[]): Html | null {
  const links = sections
    .filter(({ heading: { level } }) => level === 2 || level === 3)
    .map(
      ({ heading: { id, text, level } }) =>
        html`<li class="level-${level}"><a href="#${id}">${text}</a></li>`,
    );
  return links.length < 2 ? null : html`<ul>${links}</ul>`;
}

function renderNeighbours(page: LibraryPage, site: DocSite): Html {
  const { pages } = site.library;
  const at = pages.indexOf(page);
  const render = (rel: string, label: string, other: LibraryPage | undefined) =>
    other &&
    html`<a class="${rel}" rel="${rel}" href="${toLink(toDocPath(other), site)}"><span>${label}</span> ${other.title}</a>`;
  return html`<nav class="neighbours" aria-label="Previous and next page">
${render('prev', 'Previous', pages[at - 1])}
${render('next', 'Next', pages[at + 1])}
</nav>`;
}

const indexTitle = 'Documentation';
const introduction =
  'Perch reads public social posts and returns them as Markdown, JSON, web pages or feeds. These pages describe its requests and responses, and how to run your own server.';

export const describeDocsIndex = (site: DocSite): Page => ({
  ...common,
  title: indexTitle,
  description: introduction,
  path: docsPath,
  kind: 'docs docs-index',
  aside: renderNavigation(site, null),
  body: html`<h1>${indexTitle}</h1>
<p class="lead">${introduction}</p>
${site.library.groups.map(
  ({ title, pages }) =>
    html`<section><h2>${title}</h2><ul class="cards">${pages.map(
      (page) =>
        html`<li>${renderLink(toDocPath(page), page.title, site)}<p>${page.summary}.</p></li>`,
    )}</ul></section>\n`,
)}`,
});

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
