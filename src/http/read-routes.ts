import type { ParsedUrlQuery } from 'node:querystring';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem, quoteInput } from '../core/problem.ts';
import type { Fetcher, Waiting } from '../fetching/fetch.ts';
import type { Answer } from '../fetching/plan.ts';
import { reads } from '../reads/index.ts';
import type { PlanContext, Understood } from '../reads/read.ts';
import { represent } from '../render/representation.ts';
import type { AccessLog } from './access-log.ts';
import { chooseRead, pickParameters } from './aliases.ts';
import { corsHeaders } from './cors.ts';
import { routeNotFound } from './errors.ts';
import { toReplyHeaders } from './headers.ts';
import type { Identification, Identity } from './identity.ts';
import { type Load, overloaded } from './load.ts';
import { refuseOtherMethods } from './methods.ts';
import { namesFormat, negotiateFormat } from './negotiation.ts';
import { isPreviewCrawler } from './preview-crawlers.ts';
import { joinParameters, parseQuery } from './query.ts';
import { type PreparedReply, prepareReply, sendPrepared } from './reply.ts';
import { createRouteHeaders, type RouteHeaders } from './route-headers.ts';
import {
  type AliasRoute,
  isPermalinkHandle,
  type ReadRoute,
  type Route,
  toRouterPath,
} from './routes.ts';
import type { Work } from './work.ts';

/** The context of the read routes: all that they may use. */
export interface ReadRoutesOptions {
  readonly routes: readonly (ReadRoute | AliasRoute)[];
  readonly fetcher: Fetcher;
  readonly context: PlanContext;
  readonly identification: Identification;
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
  app.decorateRequest('identity', null);
  const understandOnce = createUnderstanding(options.context);
  const { identification } = options;
  const { baseUrl } = options.context;
  for (const row of options.routes) {
    const url = toRouterPath(row.path);
    const isRoute = isRouteOf(row);
    const headers = createRouteHeaders(row, { identification, baseUrl });
    const describe = (request: FastifyRequest) =>
      isRoute(request) ? { ...corsHeaders, ...headers.describe(request) } : corsHeaders;
    const config = { cors: false, describe };
    if (row.surface === 'alias') app.head(url, { config }, answerWithoutRead(headers));
    app.get(url, { config }, createHandler(row, headers, { ...options, understandOnce }));
    refuseOtherMethods(app, url, { allow: ['GET', 'HEAD'], isRoute, describe });
  }
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** A deprecated route tells of it on HEAD without a read (spec: Endpoints). */
function answerWithoutRead({ identityOf, describe }: RouteHeaders): Handler {
  return (request, reply) => {
    const { refusal } = identityOf(request);
    if (refusal !== null) throw refusal;
    return reply
      .headers({
        ...corsHeaders,
        'cache-control': 'no-store',
        vary: 'Accept',
        ...describe(request),
      })
      .headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' })
      .send();
  };
}

interface HandlerOptions extends ReadRoutesOptions {
  readonly understandOnce: ReturnType<typeof createUnderstanding>;
}

function createHandler(
  row: ReadRoute | AliasRoute,
  headers: RouteHeaders,
  options: HandlerOptions,
): Handler {
  const { fetcher, work, load, accessLog, understandOnce } = options;
  const hasPreview = options.linkPreviews && row.surface === 'permalink' && row.read === 'getPost';
  const send = (asked: Asked, answer: Answer, { request, reply }: Exchange): void => {
    const { understood } = asked;
    const prepared = prepare(options, request, { understood, hasPreview, answer });
    sendPrepared({ request, reply }, prepared, headers.ownOf(request));
  };
  const answerLater = async (asked: Asked, { request, reply }: Exchange): Promise<void> => {
    const waiting = toWaiting(request, headers.identityOf(request));
    const answer = await work.track(fetcher.fetch(asked.understood.plan, waiting));
    send(asked, answer, { request, reply });
    accessLog.notice(request, reply, 200);
  };
  const isRoute = isRouteOf(row);
  return (request, reply) => {
    const refusal = load.isHigh ? overloaded() : headers.identityOf(request).refusal;
    if (refusal !== null) throw isRoute(request) ? refusal : routeNotFound(request);
    const asked = { understood: understandOnce(row, request), hasPreview };
    // A hit is answered without a promise: it is the common case.
    const answer = fetcher.recall(asked.understood.plan);
    if (answer === undefined) return answerLater(asked, { request, reply });
    return send(asked, answer, { request, reply });
  };
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Tells the fetcher who waits. The signal is made when it is looked at, which a stale answer does not. */
export function toWaiting(request: FastifyRequest, { caller }: Identity): Waiting {
  return {
    caller,
    get signal() {
      return request.signal;
    },
  };
}

/** A name that the service keeps for itself is no route of a permalink, whatever the method. */
export function isRouteOf({ surface }: Route): (request: FastifyRequest) => boolean {
  return (request) => {
    const { handle } = request.params as Record<string, string>;
    return surface !== 'permalink' || handle === undefined || isPermalinkHandle(handle);
  };
}

/** Parsing and planning depend on the URL alone, so what a URL means is remembered. */
function createUnderstanding(context: PlanContext) {
  const remembered = new Map<string, Understood>();
  return (row: ReadRoute | AliasRoute, request: FastifyRequest): Understood => {
    const url = request.raw.url ?? '';
    const known = remembered.get(url);
    if (known !== undefined) return known;
    const understood = understandNow(row, request, context);
    if (url.length > maxRememberedUrl) return understood;
    // Understanding anew is cheap: starting over is a simpler bound than forgetting the oldest.
    if (remembered.size >= maxRememberedUrls) remembered.clear();
    remembered.set(url, understood);
    return understood;
  };
}

function understandNow(
  row: ReadRoute | AliasRoute,
  request: FastifyRequest,
  context: PlanContext,
): Understood {
  const given = toGiven(row, request);
  if (row.surface !== 'alias') return reads[row.read].understand(given, context);
  const read = chooseRead(row, given);
  // The successor has the same body, and gets known parameters alone: nothing warns of others.
  return reads[read].understand(pickParameters(read, given), context);
}

/**
 * Gives the parameters of a request: those of the query, and those of the path over them.
 *
 * @throws Problem `route_not_found` where the path is none of the route's, `invalid_option`
 */
export function toGiven(row: Route, request: FastifyRequest): ParsedUrlQuery {
  const query = parseQuery(request.raw.url ?? '');
  // Fastify gives each parameter of the path as a string.
  const { n, ...path } = request.params as Record<string, string>;
  if (!isRouteOf(row)(request)) throw routeNotFound(request);
  if (n !== undefined && !/^[1-9]\d?$/.test(n)) {
    throw new Problem('invalid_option', {
      detail: `The path ends with ${quoteInput(n)}; it takes the number of a photo or video, from 1 to 99.`,
    });
  }
  return joinParameters(query, path);
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
  const prepared = prepareReply({ ...corsHeaders, ...toReplyHeaders(facts) }, representation.body);
  // What a miss or a bypass made is sent once; the next reply says `hit`.
  if (cache === 'hit' || cache === 'stale') views.set(name, prepared, 1000);
  return prepared;
}
