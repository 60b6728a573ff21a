import { parse } from 'node:querystring';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem, quoteInput } from '../core/problem.ts';
import type { Fetcher } from '../fetching/fetch.ts';
import type { Answer } from '../fetching/plan.ts';
import { reads } from '../reads/index.ts';
import type { PlanContext, Understood } from '../reads/read.ts';
import { represent } from '../render/representation.ts';
import type { AccessLog } from './access-log.ts';
import { routeNotFound } from './errors.ts';
import { toReplyHeaders } from './headers.ts';
import { type Load, overloaded } from './load.ts';
import { refuseOtherMethods } from './methods.ts';
import { namesFormat, negotiateFormat } from './negotiation.ts';
import { isPreviewCrawler } from './preview-crawlers.ts';
import { type PreparedReply, prepareReply, sendPrepared } from './reply.ts';
import { isPermalinkHandle, type ReadRoute, toRouterPath } from './routes.ts';
import type { Work } from './work.ts';

/** The context of the read routes: all that they may use. */
export interface ReadRoutesOptions {
  readonly routes: readonly ReadRoute[];
  readonly fetcher: Fetcher;
  readonly context: PlanContext;
  readonly sharedCacheSeconds: number;
  /** Whether crawlers of link previews get a page of their own at the permalinks of posts. */
  readonly linkPreviews: boolean;
  readonly work: Work;
  readonly load: Load;
  readonly accessLog: AccessLog;
}

/** URLs longer than this are understood anew each time, so that the memory stays small. */
const maxRememberedUrl = 1024;

/** The most URLs whose meaning is remembered. */
const maxRememberedUrls = 2000;

/** Registers every row of the route table, all with one handler. */
export async function readRoutesPlugin(app: FastifyInstance, options: ReadRoutesOptions) {
  const understandOnce = createUnderstanding(options.context);
  const answerLater = async (
    asked: Asked,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> => {
    const answer = await options.work.track(options.fetcher.fetch(asked.understood.plan, request));
    sendPrepared(request, reply, prepare(options, request, { ...asked, answer }));
    options.accessLog.notice(request, reply, 200);
  };
  for (const row of options.routes) {
    const url = toRouterPath(row.path);
    const hasPreview =
      options.linkPreviews && row.surface === 'permalink' && row.read === 'getPost';
    app.get(url, (request, reply) => {
      if (options.load.isHigh) throw overloaded();
      const understood = understandOnce(row, request);
      // A hit is answered without a promise: it is the common case.
      const answer = options.fetcher.recall(understood.plan);
      if (answer === undefined) return answerLater({ understood, hasPreview }, request, reply);
      const prepared = prepare(options, request, { understood, hasPreview, answer });
      return sendPrepared(request, reply, prepared);
    });
    refuseOtherMethods(app, url, { allow: ['GET', 'HEAD'], isRoute: isRouteOf(row) });
  }
}

/** A name that the service keeps for itself is no route of a permalink, whatever the method. */
function isRouteOf({ surface }: ReadRoute): (request: FastifyRequest) => boolean {
  return (request) => {
    const { handle } = request.params as Record<string, string>;
    return surface === 'v1' || handle === undefined || isPermalinkHandle(handle);
  };
}

/** Parsing and planning depend on the URL alone, so what a URL means is remembered. */
function createUnderstanding(context: PlanContext) {
  const remembered = new Map<string, Understood>();
  return (row: ReadRoute, request: FastifyRequest): Understood => {
    const url = request.raw.url ?? '';
    const known = remembered.get(url);
    if (known !== undefined) return known;
    const understood = reads[row.read].understand(toGiven(row, request), context);
    if (url.length > maxRememberedUrl) return understood;
    // Understanding anew is cheap: starting over is a simpler bound than forgetting the oldest.
    if (remembered.size >= maxRememberedUrls) remembered.clear();
    remembered.set(url, understood);
    return understood;
  };
}

/** Gives the parameters of a request: those of the query, and those of the path over them. */
function toGiven(row: ReadRoute, request: FastifyRequest): Record<string, unknown> {
  const { url = '' } = request.raw;
  const start = url.indexOf('?');
  // All of them: a URL is bounded, and what is left out would not be refused.
  const query = start === -1 ? {} : parse(url.slice(start + 1), '&', '=', { maxKeys: 0 });
  // Fastify gives each parameter of the path as a string.
  const { n, ...path } = request.params as Record<string, string>;
  if (!isRouteOf(row)(request)) throw routeNotFound(request);
  if (n !== undefined && !/^[1-9]\d?$/.test(n)) {
    throw new Problem('invalid_option', {
      detail: `The path ends with ${quoteInput(n)}; it takes the number of a photo or video, from 1 to 99.`,
    });
  }
  // A path that names the post is not overruled by `url`.
  return path.id === undefined ? { ...query, ...path } : { ...query, url: undefined, ...path };
}

interface Asked {
  readonly understood: Understood;
  readonly hasPreview: boolean;
}

/** Gives the reply to a read: the kept one, or one that is made and then kept beside the answer. */
function prepare(
  options: ReadRoutesOptions,
  { headers: { accept, 'user-agent': agent } }: FastifyRequest,
  { understood, hasPreview, answer }: Asked & { readonly answer: Answer },
): PreparedReply {
  const isPreview = hasPreview && !namesFormat(accept) && isPreviewCrawler(agent);
  const format = understood.format ?? (isPreview ? 'preview' : negotiateFormat(accept));
  const { cache, source, views } = answer;
  const view = hasPreview ? `by agent ${understood.views[format]}` : understood.views[format];
  const name = cache === 'hit' ? view : `${cache} ${view}`;
  // Only this function writes views under such a name.
  const kept = views.get(name) as PreparedReply | undefined;
  if (kept !== undefined) return kept;
  const representation = represent(understood, answer, format);
  const { sharedCacheSeconds } = options;
  const facts = { representation, source, cache, sharedCacheSeconds, variesByAgent: hasPreview };
  const prepared = prepareReply(toReplyHeaders(facts), representation.body);
  // What a miss or a bypass made is sent once; the next reply says `hit`.
  if (cache === 'hit' || cache === 'stale') views.set(name, prepared, 1000);
  return prepared;
}
