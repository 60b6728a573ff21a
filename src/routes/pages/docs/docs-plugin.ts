import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Origins } from '../../../lib/http/origins.ts';
import { once } from '../../../lib/once.ts';
import { Problem, quoteInput } from '../../../lib/problem.ts';
import { editDistance } from '../../../lib/suggest.ts';
import { rejectOtherOrigins } from '../../cors.ts';
import { negotiate, offers, type PageFormat } from '../../reads/negotiation.ts';
import { type PreparedReply, sendPrepared } from '../../reply.ts';
import { serveRoutes } from '../../route.ts';
import { type AskOptions, createAskHandler } from '../ask/ask-plugin.ts';
import { askRoutes, docsRoutes } from '../endpoints.ts';
import { docsPath, preparePage, renderPage, type Site, toLink } from '../layout.ts';
import {
  createLinks,
  type DocSite,
  describeDocPage,
  describeDocsIndex,
  writeDocsIndex,
} from './doc-pages.ts';
import type { Library, LibraryPage } from './library.ts';
import { createMarkdown, type MarkdownDocument } from './markdown.ts';
import { createFindHandler, createSearchIndex } from './search-index.ts';

interface DocsOptions {
  readonly site: Site;
  readonly library: () => Library;
  readonly ask: Omit<AskOptions, 'open'> | null;
  readonly origins: Origins;
}

/** Registers the list of pages (`/docs`), the pages, the search and the question page. */
export async function docsPlugin(app: FastifyInstance, options: DocsOptions) {
  const { site, library, ask, origins } = options;
  rejectOtherOrigins(app, origins);
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, hidesQuery: true };
  });
  const create = once(() => createDocs(library(), { ...site, hasAskPage: ask !== null }));
  const open = () => {
    if (library().pages.length > 0) return create();
    throw new Problem('route_not_found', {
      detail: 'The documentation is not installed on this server.',
    });
  };
  const getPage = async (request: FastifyRequest, reply: FastifyReply) =>
    sendPage(open(), request, reply);
  const handlers = {
    getDocs: getPage,
    getDocsPage: getPage,
    getDocsSource: null,
    getApiPage: getPage,
    searchDocs: createFindHandler(open),
  };
  const isRoute = (request: FastifyRequest) => findPage(open(), nameOf(request)) !== undefined;
  serveRoutes(app, docsRoutes, handlers, { isRoute });
  if (ask !== null) serveRoutes(app, askRoutes, { askDocs: createAskHandler({ ...ask, open }) });
}

type DocFormat = PageFormat | 'source';

export type Docs = ReturnType<typeof createDocs>;

/** Creates an object that renders and searches documentation, cached after the first use. */
export function createDocs(library: Library, plain: Site) {
  const site: DocSite = { ...plain, library };
  const replies = new Map<string, PreparedReply>();
  const openParser = once(createMarkdown);
  const parse = async (page: LibraryPage): Promise<MarkdownDocument> => {
    // Links to `/docs/api#getPost` are older than the pages of the groups of operations.
    const linkIds = page.name === 'api';
    const foldsSections = page.name === 'api/schemas';
    return (await openParser())(page.read(), createLinks(site, page), { linkIds, foldsSections });
  };
  const openIndex = once(async () => {
    const entries = [];
    for (const page of library.pages) {
      await setImmediate(); // lets the server handle other requests between two pages
      const { sections } = await parse(page);
      const { name, title } = page;
      entries.push(...sections.map((section) => ({ ...section, page: name, pageTitle: title })));
    }
    return createSearchIndex(entries);
  });
  const write = async (page: LibraryPage | null, format: DocFormat): Promise<string> => {
    if (format !== 'html') return page === null ? writeDocsIndex(site) : page.read();
    if (page === null) return renderPage(describeDocsIndex(site), site);
    return renderPage(describeDocPage(page, await parse(page), site), site);
  };
  return {
    site,
    /** Returns the reply with a page; with the list of all pages if `page` is `null`. */
    reply: async (page: LibraryPage | null, format: DocFormat): Promise<PreparedReply> => {
      const key = `${format} ${page?.name ?? ''}`;
      const reply = replies.get(key) ?? preparePage(await write(page, format), format);
      replies.set(key, reply);
      return reply;
    },
    find: async (query: string) => (await openIndex()).find(query),
  };
}

async function sendPage(docs: Docs, request: FastifyRequest, reply: FastifyReply) {
  const name = nameOf(request);
  const { page, address, isSource } = findPage(docs, name) ?? refusePage(docs, name);
  if (name !== address) {
    reply.header('cache-control', 'public, max-age=60');
    return reply.redirect(toLink(`${docsPath}/${address}`, docs.site), 308);
  }
  const format = isSource ? 'source' : negotiate(request.headers.accept, offers.docs);
  return sendPrepared(reply, await docs.reply(page, format));
}

/** Returns the name of the requested page; an empty string for the list of pages. */
function nameOf({ params }: FastifyRequest): string {
  // The routes have no other parameters.
  const { page = '', group } = params as { readonly page?: string; readonly group?: string };
  // A page name with an encoded `/` names no page.
  return group === undefined ? page.replaceAll('/', '%2F') : `api/${group}`;
}

const movedPages: ReadonlyMap<string, string> = new Map([['self-hosting', 'deploy']]);

function findPage({ site: { library } }: Docs, name: string) {
  if (name === '') return { page: null, address: '', isSource: false };
  const wanted = name.toLowerCase();
  const isSource = wanted.endsWith('.md');
  const base = isSource ? wanted.slice(0, -3) : wanted;
  const page = library.find(movedPages.get(base) ?? base);
  return page && { page, address: `${page.name}${isSource ? '.md' : ''}`, isSource };
}

function refusePage({ site: { library } }: Docs, wanted: string): never {
  const names = library.pages.map(({ name }) => name);
  const similar = findSimilar(wanted.replace(/\.\w+$/, '').toLowerCase(), names);
  const links = similar.map((name) => `\`${docsPath}/${name}\``);
  const proposal = links.length === 0 ? '' : ` Did you mean ${links.join(' or ')}?`;
  const detail = `The documentation has no page ${quoteInput(wanted)}.${proposal} See \`${docsPath}\` for all pages.`;
  throw new Problem('route_not_found', { detail });
}

function findSimilar(word: string, names: readonly string[]): readonly string[] {
  if (word === '' || word.length > 40) return [];
  return names
    .map((name) => ({ name, most: Math.max(1, Math.floor(name.length / 3)) }))
    .map(({ name, most }) => ({ name, most, distance: distanceOf(word, name, most) }))
    .filter(({ most, distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

function distanceOf(a: string, b: string, most: number): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 3 && long.includes(short) ? 1 : editDistance(a, b, most);
}
