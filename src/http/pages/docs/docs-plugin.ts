import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Origins } from '../../../core/http/origins.ts';
import { Problem, quoteInput } from '../../../core/problem.ts';
import { closeToPages } from '../../../web/cors.ts';
import { refuseOtherMethods } from '../../../web/methods.ts';
import { nothingOfItsOwn, sendPrepared } from '../../../web/reply.ts';
import { negotiate, offers } from '../../reads/negotiation.ts';
import { type AskOptions, askPlugin } from '../ask/ask-plugin.ts';
import { type Site, toLink } from '../layout.ts';
import { docsPath } from '../paths.ts';
import { toDocPath } from './doc-page.ts';
import { createDocs, type Docs } from './docs.ts';
import { findPlugin } from './find-plugin.ts';
import type { Library, LibraryPage } from './library.ts';
import { findNear } from './near-pages.ts';

/** The context of the documentation's routes. */
export interface DocsOptions {
  readonly site: Site;
  /** Gives the pages; asked when the first of them is. */
  readonly library: () => Library;
  /** What the page on which it is asked needs; null for no such page. */
  readonly ask: Omit<AskOptions, 'open'> | null;
  readonly origins: Origins;
}

/**
 * Registers `/docs`, its pages, its search and the page on which it is asked. Nothing is read before it is
 * asked for.
 */
export async function docsPlugin(app: FastifyInstance, options: DocsOptions) {
  const { site, library, ask, origins } = options;
  closeToPages(app, origins);
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, hidesQuery: true };
  });
  let kept: Docs | undefined;
  const open = () => {
    kept ??= createDocs(library(), { ...site, canBeAsked: ask !== null });
    if (kept.site.library.pages.length > 0) return kept;
    throw new Problem('route_not_found', { detail: 'This server has no documentation installed.' });
  };
  const isRoute = (request: FastifyRequest) => {
    const asked = nameOf(request);
    return asked === '' || findPage(open(), asked) !== undefined;
  };
  const get = (url: string, answer: (request: FastifyRequest, reply: FastifyReply) => unknown) => {
    app.get(url, answer);
    refuseOtherMethods(app, url, { allow: ['GET', 'HEAD'], isRoute });
  };
  get(docsPath, (request, reply) => {
    const docs = open();
    return send({ request, reply }, docs.reply(null, formOf(request)));
  });
  get(`${docsPath}/:page`, (request, reply) => sendPage(open(), request, reply));
  get(`${docsPath}/:page/`, (request, reply) => {
    const docs = open();
    return redirect(request, reply, toLink(toDocPath(seek(docs, nameOf(request)).page), docs.site));
  });
  await app.register(findPlugin, { open });
  if (ask !== null) await app.register(askPlugin, { ...ask, open });
}

type Prepared = ReturnType<Docs['reply']>;

/** What is ready is sent at once, without a promise (docs/decisions/0004). */
function send(
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  prepared: Prepared,
): unknown {
  if (!(prepared instanceof Promise)) return sendPrepared(exchange, prepared, nothingOfItsOwn);
  return prepared.then((ready) => sendPrepared(exchange, ready, nothingOfItsOwn));
}

function sendPage(docs: Docs, request: FastifyRequest, reply: FastifyReply): unknown {
  const asked = nameOf(request);
  if (asked === '') return redirect(request, reply, toLink(docsPath, docs.site));
  const { page, address, isSource } = seek(docs, asked);
  if (asked !== address)
    return redirect(request, reply, toLink(`${docsPath}/${address}`, docs.site));
  return send({ request, reply }, docs.reply(page, isSource ? 'source' : formOf(request)));
}

/** Gives the name in the path; empty for the list of all pages. */
function nameOf({ params }: FastifyRequest): string {
  return (params as { readonly page?: string }).page ?? ''; // the router gives what the paths name
}

function formOf({ headers }: FastifyRequest) {
  return negotiate(headers.accept, offers.docs);
}

interface Found {
  readonly page: LibraryPage;
  /** The last segment of the page's own address. */
  readonly address: string;
  readonly isSource: boolean;
}

/** Gives the page that a name means, in whatever case it is written. */
function findPage({ site: { library } }: Docs, asked: string): Found | undefined {
  const address = asked.toLowerCase();
  const isSource = address.endsWith('.md');
  const page = library.find(isSource ? address.slice(0, -3) : address);
  return page === undefined ? undefined : { page, address, isSource };
}

/** @throws Problem `route_not_found`, which proposes names that are like the one that was asked for */
function seek(docs: Docs, asked: string): Found {
  const found = findPage(docs, asked);
  if (found !== undefined) return found;
  const names = docs.site.library.pages.map(({ name }) => name);
  const near = findNear(asked.replace(/\.\w+$/, ''), names);
  const proposal = near.length === 0 ? '' : ` Did you mean ${near.map(propose).join(' or ')}?`;
  throw new Problem('route_not_found', {
    detail: `The documentation has no page ${quoteInput(asked)}.${proposal} \`${docsPath}\` lists all pages.`,
  });
}

function propose(name: string): string {
  return `\`${docsPath}/${name}\``;
}

function redirect(request: FastifyRequest, reply: FastifyReply, location: string) {
  return reply
    .code(308)
    .headers({
      location,
      'x-request-id': request.id,
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=60',
    })
    .send();
}
