import { setImmediate } from 'node:timers/promises';
import type { PreparedReply } from '../../../web/reply.ts';
import type { PageFormat } from '../../reads/negotiation.ts';
import { renderPage, type Site } from '../layout.ts';
import { type PageText, preparePage } from '../page-headers.ts';
import { createLinks, type DocSite, describeDocPage } from './doc-page.ts';
import { describeDocsIndex, writeDocsIndex } from './docs-index.ts';
import type { Library, LibraryPage } from './library.ts';
import { createMarkdown, type MarkdownDocument, type ReadMarkdown } from './markdown.ts';
import { createSearchIndex, type SearchHit, type SearchIndex } from './search-index.ts';

/** A form of a page: what was negotiated, or the Markdown at an address of its own. */
export type DocForm = PageFormat | 'source';

/** The documentation as replies. Each is made when it is first asked for, and kept. */
export interface Docs {
  readonly site: DocSite;
  /** Gives the reply of a page, or of the list of pages (null). */
  reply(page: LibraryPage | null, form: DocForm): PreparedReply | Promise<PreparedReply>;
  /** Gives what a search finds. The first search reads all pages. */
  find(query: string): Promise<readonly SearchHit[]>;
}

/** Creates the replies of a library. It holds at most three for each page, and one index. */
export function createDocs(library: Library, plain: Site): Docs {
  const site: DocSite = { ...plain, library };
  const replies = new Map<string, PreparedReply>();
  const read = createReading(site);
  let index: Promise<SearchIndex> | undefined;
  return {
    site,
    reply: (page, form) => {
      const key = `${form} ${page?.name ?? ''}`;
      return replies.get(key) ?? prepare(key, page, form);
    },
    find: async (query) => {
      index ??= indexPages(library, read);
      return (await index).find(query);
    },
  };

  async function prepare(key: string, page: LibraryPage | null, form: DocForm) {
    const reply = preparePage(await write(page, form));
    replies.set(key, reply);
    return reply;
  }

  async function write(page: LibraryPage | null, form: DocForm): Promise<PageText> {
    const isNegotiated = form !== 'source';
    if (form !== 'html') {
      const text = page === null ? writeDocsIndex(site) : page.source;
      return { text, format: 'markdown', isNegotiated };
    }
    const described =
      page === null ? describeDocsIndex(site) : describeDocPage(page, await read(page), site);
    return { text: renderPage(described, site), format: 'html', isNegotiated };
  }
}

type ReadPage = (page: LibraryPage) => Promise<MarkdownDocument>;

/** Reads each page once; the parser comes with the first. */
function createReading(site: DocSite): ReadPage {
  const documents = new Map<string, MarkdownDocument>();
  const resolve = createLinks(site);
  let parser: Promise<ReadMarkdown> | undefined;
  return async (page) => {
    parser ??= createMarkdown();
    const parse = await parser;
    const document = documents.get(page.name) ?? parse(page.source, resolve);
    documents.set(page.name, document);
    return document;
  };
}

/** Other requests go between two pages. */
async function indexPages(library: Library, read: ReadPage): Promise<SearchIndex> {
  const entries = [];
  for (const page of library.pages) {
    await setImmediate();
    const { sections } = await read(page);
    entries.push(
      ...sections.map((section) => ({ ...section, page: page.name, pageTitle: page.title })),
    );
  }
  return createSearchIndex(entries);
}
