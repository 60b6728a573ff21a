import type { ParsedUrlQuery } from 'node:querystring';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { joinParameters, parseQuery } from '../../lib/http/url.ts';
import type { HeavyTurns } from '../../lib/scheduling/fair-queue.ts';
import type { PathParameters } from '../../model/addresses/match-form.ts';
import type { Format } from '../../model/results.ts';
import type { PathPattern } from '../../reads/addresses/own-paths.ts';
import { accepts, toReadParameters } from '../../reads/addresses/own-paths.ts';
import { type ReadId, reads } from '../../reads/index.ts';
import { nameViews, type ParsedRead, type PlanContext } from '../../reads/read.ts';
import { type AnsweredRead, type Reader, replyBytes } from '../../reads/run.ts';
import type { Representation } from '../../render/formats.ts';
import { toReplyHeaders } from '../headers.ts';
import {
  allowanceOf,
  type Identification,
  identityOf,
  refuseRead,
  setAllowances,
  toRequester,
} from '../key-status/plugin.ts';
import { setLifecycle } from '../lifecycle/lifecycle.ts';
import type { AccessLog } from '../monitoring/access-log.ts';
import type { Load, Work } from '../monitoring/load.ts';
import type { CountHit } from '../monitoring/traffic.ts';
import { routeNotFound } from '../problems.ts';
import { type PreparedReply, prepareReply, sendPrepared } from '../reply.ts';
import { route } from '../route.ts';
import { addressPaths, createAddressEndpoint } from './address-route.ts';
import { isPageNavigation, namesFormat, negotiate, offers } from './negotiation.ts';
import { isPreviewCrawler } from './preview-crawlers.ts';
import {
  type AliasRoute,
  aliasRoutes,
  chooseRead,
  listRouterPaths,
  pickParameters,
  type ReadRoute,
  type Route,
  readRoutes,
  surfaceOf,
} from './routes.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Requests that get HTML errors: `format=html`, optionally also navigations. Default: none. */
    errorPages?: 'html' | 'html or navigation';
  }
}

export interface ReadingOptions {
  readonly reader: Reader;
  readonly context: PlanContext;
  readonly heavyTurns: HeavyTurns;
  readonly identification: Identification;
  readonly sharedCacheSeconds: number;
  readonly work: Work;
  readonly load: Load;
  readonly accessLog: AccessLog;
}

export interface ReadRoutesOptions extends ReadingOptions {
  /** Whether link-preview crawlers get a page with Open Graph tags for the URL of a post. */
  readonly linkPreviews: boolean;
  /** Whether browsers get HTML pages if the request does not select a format. */
  readonly browserPages: boolean;
  readonly countHits: (route: string) => CountHit;
}

export type RequestedRead = Readonly<{ read: ReadId; given: Readonly<ParsedUrlQuery> }>;

export interface ReadEndpoint {
  readonly config: FastifyContextConfig;
  readonly isRoute: (request: FastifyRequest) => boolean;
  /** Returns the operation and its parameters. Throws Problem if the request is invalid. */
  readonly toRequestedRead: (request: FastifyRequest) => RequestedRead;
  readonly hasPreviews: boolean;
  /** Handler of HEAD. Default: that of GET. */
  readonly head?: typeof answerWithoutRead;
}

/** Registers the routes of reads, and the routes for complete URLs in the path. */
export async function readRoutesPlugin(app: FastifyInstance, options: ReadRoutesOptions) {
  const handling = {
    ...options,
    parseOnce: createRequestParser(options.reader),
    replies: new WeakMap<Representation, PreparedReply>(),
  };
  const register = (scope: FastifyInstance, url: string, endpoint: ReadEndpoint): void => {
    const { isRoute, head } = endpoint;
    const config = { ...endpoint.config, ...toErrorPages(url, options) };
    const countHit = options.countHits(url);
    const handler = createHandler(endpoint, { ...handling, countHit });
    route(scope, url, { GET: { handler, ...(head && { head }) } }, { isRoute, config });
  };
  const addressed = createAddressEndpoint(options);
  const registerRows = (scope: FastifyInstance, rows: readonly (ReadRoute | AliasRoute)[]) => {
    for (const row of rows) {
      for (const { url, pattern } of listRouterPaths(row)) {
        const endpoint = toEndpoint(row, pattern, options);
        // `/:handle/:id` also matches addresses without a scheme, such as `/x.com/jack`.
        const isWide = url.startsWith('/:handle/:id');
        register(scope, url, isWide ? orElse(endpoint, addressed) : endpoint);
      }
    }
  };
  setAllowances(app, options.identification);
  registerRows(app, readRoutes);
  for (const url of addressPaths) register(app, url, addressed);
  app.register(async (aliases) => {
    setLifecycle(aliases, options.context.baseUrl);
    registerRows(aliases, aliasRoutes);
  });
}

function toEndpoint(
  row: ReadRoute | AliasRoute,
  pattern: PathPattern,
  { linkPreviews }: ReadRoutesOptions,
): ReadEndpoint {
  return {
    config: toConfig(row, pattern),
    isRoute: isRouteOf(row, pattern),
    hasPreviews: linkPreviews && row.surface === 'permalink',
    toRequestedRead: (request) => toRequestedRead(row, toParameters(pattern, request)),
    ...(row.surface === 'alias' && { head: answerWithoutRead }),
  };
}

function orElse(first: ReadEndpoint, second: ReadEndpoint): ReadEndpoint {
  const choose = (request: FastifyRequest) => (first.isRoute(request) ? first : second);
  return {
    config: { allowance: (request) => allowanceOf(choose(request).config, request) },
    isRoute: (request) => choose(request).isRoute(request),
    hasPreviews: first.hasPreviews,
    toRequestedRead: (request) => choose(request).toRequestedRead(request),
  };
}

function toErrorPages(
  url: string,
  { browserPages }: Pick<ReadRoutesOptions, 'browserPages'>,
): FastifyContextConfig {
  if (url.startsWith('/api/') || /\/oembed\/?$/.test(url)) return {};
  return { errorPages: browserPages ? 'html or navigation' : 'html' };
}

function toRequestedRead(row: ReadRoute | AliasRoute, given: ParsedUrlQuery): RequestedRead {
  if (row.surface !== 'alias') return { read: row.read, given };
  const read = chooseRead(row, given);
  // Only known parameters, so that the body has no warnings and equals the body of the successor
  // route.
  return { read, given: pickParameters(read, given) };
}

export function toConfig(row: Route, pattern: PathPattern): FastifyContextConfig {
  const surface = surfaceOf(row);
  const isRoute = isRouteOf(row, pattern);
  return row.surface === 'alias'
    ? { allowance: surface, deprecated: row }
    : { allowance: (request) => (isRoute(request) ? surface : null) };
}

function answerWithoutRead(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { refusal } = identityOf(request);
  if (refusal !== null) throw refusal;
  return reply.headers({ 'cache-control': 'no-store', vary: 'Accept' }).send();
}

interface HandlerOptions extends ReadRoutesOptions {
  readonly parseOnce: ReturnType<typeof createRequestParser>;
  readonly replies: WeakMap<Representation, PreparedReply>;
  readonly countHit: CountHit;
}

function createHandler(endpoint: ReadEndpoint, options: HandlerOptions) {
  const { reader, work, load, accessLog, countHit, parseOnce, heavyTurns, identification } =
    options;
  const answerAsync = async (asked: AskedRead, known: AnsweredRead | undefined) => {
    const { reply, parsed, format } = asked;
    const { request } = reply;
    const answered =
      known ?? (await work.track(reader.fetch(parsed, toRequester(request, identification))));
    // Waits for a turn in the queue, because parsing and rendering an answer each take a while.
    await heavyTurns.take(identification.clientOf(request));
    if (request.socket.destroyed) throw new Error('The client has disconnected.');
    const representation = await reader.represent(answered, format, request.span);
    const sent = sendPrepared(reply, prepare(options, asked, { answered, representation }));
    if (known === undefined) accessLog.logIfNotable(request, reply, 200);
    else countHit(request);
    return sent;
  };
  return (request: FastifyRequest, reply: FastifyReply): unknown => {
    if (request.identity === null) throw routeNotFound(request);
    refuseRead(request, load);
    const { parsed, hasPreview } = parseOnce(request, endpoint);
    const format = chooseFormat(request, { parsed, hasPreview }, options);
    const asked = { reply, parsed, hasPreview, format };
    // Cache hits are the common case, and are answered without a promise.
    const answered = reader.getCached(parsed, request.span);
    const representation = answered && reader.getRepresentation(answered, format);
    if (!answered || !representation) return answerAsync(asked, answered);
    const sent = sendPrepared(reply, prepare(options, asked, { answered, representation }));
    countHit(request);
    return sent;
  };
}

/** Creates a check of the handle in a path: in permalinks, names like `api` are not handles. */
export function isRouteOf(row: Route, pattern: PathPattern): (request: FastifyRequest) => boolean {
  // In Fastify every path parameter is a string.
  return ({ params }) => row.surface === 'alias' || accepts(row, pattern, params as PathParameters);
}

function createRequestParser(reader: Reader) {
  const cache = new LRUCache<string, ParsedRequest>({ max: 2000 });
  return (request: FastifyRequest, { toRequestedRead, hasPreviews }: ReadEndpoint) => {
    const url = request.raw.url ?? '';
    const cached = cache.get(url);
    if (cached !== undefined) return cached;
    const { read, given } = toRequestedRead(request);
    const parsed = reader.parse(reads[read], given);
    const hasPreview = hasPreviews && read === 'getPost';
    const views = hasPreview ? nameViews(`by agent ${parsed.views.markdown}`) : parsed.views;
    const parsedRequest = { parsed: { ...parsed, views }, hasPreview };
    // Longer URLs are not cached, to limit the memory of the cache.
    if (url.length <= 1024) cache.set(url, parsedRequest);
    return parsedRequest;
  };
}

export function toParameters(pattern: PathPattern, request: FastifyRequest): ParsedUrlQuery {
  // In Fastify every path parameter is a string.
  const path = request.params as PathParameters;
  return joinParameters(parseQuery(request.raw.url ?? ''), toReadParameters(pattern, path));
}

interface ParsedRequest {
  readonly parsed: ParsedRead;
  /** Whether link-preview crawlers get another format, so that `Vary` names `User-Agent`. */
  readonly hasPreview: boolean;
}

interface AskedRead extends ParsedRequest {
  readonly reply: FastifyReply;
  readonly format: Format;
}

function chooseFormat(
  request: FastifyRequest,
  { parsed, hasPreview }: ParsedRequest,
  { browserPages }: Pick<ReadRoutesOptions, 'browserPages'>,
): Format {
  if (parsed.format !== undefined) return parsed.format;
  const { accept, 'user-agent': agent } = request.headers;
  if (hasPreview && !namesFormat(accept) && isPreviewCrawler(agent)) return 'preview';
  if (browserPages && isPageNavigation(request)) return 'html';
  return negotiate(accept, parsed.hasFeeds ? offers.readWithFeeds : offers.read);
}

interface RenderedRead {
  readonly answered: AnsweredRead;
  readonly representation: Representation;
}

/** Returns the reply with a rendered read. It is kept with the rendering for the next hits. */
function prepare(
  { reader, replies, sharedCacheSeconds, browserPages }: HandlerOptions,
  { hasPreview, format }: AskedRead,
  { answered, representation }: RenderedRead,
): PreparedReply {
  const { cache, source, renderings } = answered.answer;
  // Replies with `X-Cache: miss` or `bypass` are sent once; the next reply has `hit`.
  const isKept = cache === 'hit' || cache === 'stale';
  const known = isKept ? replies.get(representation) : undefined;
  if (known !== undefined) return known;
  const varies = { variesByAgent: hasPreview, variesByMode: browserPages };
  const facts = { representation, source, cache, sharedCacheSeconds, ...varies };
  const prepared = prepareReply(toReplyHeaders(facts), representation.body, (bytes) => {
    const isCached = reader.getRepresentation(answered, format) === representation;
    if (isKept && isCached) renderings.grow(replyBytes + bytes);
  });
  if (isKept) replies.set(representation, prepared);
  return prepared;
}
