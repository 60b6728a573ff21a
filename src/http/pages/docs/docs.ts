import { setImmediate } from 'node:timers/promises';
import type { PreparedReply } from '../../../web/reply.ts';
import type { PageFormat } from '../../reads/negotiation.ts';
import { renderPage, type Site } from '../layout.ts';
import { preparePage } from '../page-reply.ts';
import {
  createLinks,
  type DocSite,
  describeDocPage,
  describeDocsIndex,
  writeDocsIndex,
} from './doc-pages.ts';
import type { Library, LibraryPage } from './library.ts';
import { createMarkdown, type MarkdownDocument } from './markdown.ts';
import { createSearchIndex, type SearchHit, type SearchIndex } from './search-index.ts';

/** A negotiated format, or the Markdown at its own address. */
type DocForm = PageFormat | 'source';

/** The documentation as replies. Each is made at its first request, and kept. */
export type Docs = ReturnType<typeof createDocs>;

/** Creates the replies of a library. It keeps at most three for each page, and one index. */
export function createDocs(library: Library, plain: Site) {
  const site: DocSite = { ...plain, library };
  const replies = new Map<string, PreparedReply>();
  const resolve = createLinks(site);
  let parser: ReturnType<typeof createMarkdown> | undefined;
  let index: Promise<SearchIndex> | undefined;
  const read = async ({ source }: LibraryPage): Promise<MarkdownDocument> => {
    parser ??= createMarkdown();
    return (await parser)(source, resolve);
  };
  const write = async (page: LibraryPage | null, form: DocForm): Promise<string> => {
    if (form !== 'html') return page === null ? writeDocsIndex(site) : page.source;
    if (page === null) return renderPage(describeDocsIndex(site), site);
    return renderPage(describeDocPage(page, await read(page), site), site);
  };
  return {
    site,
    /** Returns the reply of a page, or of the list of pages (`null`). */
    reply: async (page: LibraryPage | null, form: DocForm): Promise<PreparedReply> => {
      const key = `${form} ${page?.name ?? ''}`;
      const reply = replies.get(key) ?? preparePage(await write(page, form), form);
      replies.set(key, reply);
      return reply;
    },
    /** Searches all pages, which the first search reads. */
    find: async (query: string): Promise<readonly SearchHit[]> => {
      index ??= indexPages(library, read);
      return (await index).find(query);
    },
  };
}

/** Other requests are served between two pages. */
async function indexPages(
  { pages }: Library,
  read: (page: LibraryPage) => Promise<MarkdownDocument>,
): Promise<SearchIndex> {
  const entries = [];
  for (const page of pages) {
    await setImmediate();
    const { sections } = await read(page);
    const { name, title } = page;
    entries.push(...sections.map((section) => ({ ...section, page: name, pageTitle: title })));
  }
  return createSearchIndex(entries);
}
