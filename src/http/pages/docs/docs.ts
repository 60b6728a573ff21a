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

export interface Docs {
  readonly site: DocSite;
  reply(page: LibraryPage | null, form: DocForm): Promise<PreparedReply>;
  find(query: string): Promise<readonly SearchHit[]>;
}

/** Creates the replies of a library. It keeps at most three for each page, and one index. */
export function createDocs(library: Library, plain: Site): Docs {
  const site: DocSite = { ...plain, library };
  const replies = new Map<string, PreparedReply>();
  const read = createReading(site);
  let index: Promise<SearchIndex> | undefined;
  const write = async (page: LibraryPage | null, form: DocForm): Promise<string> => {
    if (form !== 'html') return page === null ? writeDocsIndex(site) : page.source;
    const isIndex = page === null;
    return renderPage(
      isIndex ? describeDocsIndex(site) : describeDocPage(page, await read(page), site),
      site,
    );
  };
  return {
    site,
    reply: async (page, form) => {
      const key = `${form} ${page?.name ?? ''}`;
      const reply = replies.get(key) ?? preparePage(await write(page, form), form);
      replies.set(key, reply);
      return reply;
    },
    find: async (query) => {
      index ??= indexPages(library, read);
      return (await index).find(query);
    },
  };
}

type ReadPage = (page: LibraryPage) => Promise<MarkdownDocument>;

/** Parses a page. The first call loads the parser. */
function createReading(site: DocSite): ReadPage {
  const resolve = createLinks(site);
  let parser: ReturnType<typeof createMarkdown> | undefined;
  return async ({ source }) => {
    parser ??= createMarkdown();
    return (await parser)(source, resolve);
  };
}

/** Other requests are served between two pages. */
async function indexPages(library: Library, read: ReadPage): Promise<SearchIndex> {
  const entries = [];
  for (const page of library.pages) {
    await setImmediate();
    const { sections } = await read(page);
    const { name, title } = page;
    entries.push(...sections.map((section) => ({ ...section, page: name, pageTitle: title })));
  }
  return createSearchIndex(entries);
}
