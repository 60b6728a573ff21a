import { escapeHtml } from '../../../render/html/escape.ts';
import { type Page, toLink } from '../layout.ts';
import { docsPath } from '../paths.ts';
import { type DocSite, renderNavigation, toDocPath } from './doc-page.ts';
import type { LibraryGroup, LibraryPage } from './library.ts';

const title = 'Documentation';
const introduction =
  'Perch reads public social posts and answers with Markdown or JSON. These pages say how to ask, what comes back, and how to run a server of your own.';

/** Gives the page that lists all pages, in their groups. */
export function describeDocsIndex(site: DocSite): Page {
  const groups = site.library.groups.map((group) => renderGroup(group, site));
  return {
    title,
    description: introduction,
    path: docsPath,
    kind: 'docs docs-index',
    section: 'docs',
    styles: ['docs.css'],
    scripts: ['copy.js', 'docs.js'],
    asideHtml: renderNavigation(site, null),
    bodyHtml: `<h1>${title}</h1>
<p class="lead">${introduction}</p>
${groups.join('\n')}`,
  };
}

function renderGroup({ title: name, pages }: LibraryGroup, site: DocSite): string {
  const items = pages.map((page) => renderCard(page, site));
  return `<section><h2>${escapeHtml(name)}</h2><ul class="cards">${items.join('')}</ul></section>`;
}

function renderCard(page: LibraryPage, site: DocSite): string {
  const href = escapeHtml(toLink(toDocPath(page), site));
  return `<li><a href="${href}">${escapeHtml(page.title)}</a><p>${escapeHtml(page.summary)}.</p></li>`;
}

/** Gives the same list as Markdown; its links lead to the Markdown of the pages. */
export function writeDocsIndex({ library, baseUrl }: DocSite): string {
  const groups = library.groups.map(({ title: name, pages }) => {
    const items = pages.map(
      (page) => `- [${page.title}](${baseUrl}${toDocPath(page)}.md): ${page.summary}.`,
    );
    return `## ${name}\n\n${items.join('\n')}\n`;
  });
  return `# ${title}\n\n${introduction}\n\n${groups.join('\n')}`;
}
