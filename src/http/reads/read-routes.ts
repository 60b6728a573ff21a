import type { ParsedUrlQuery } from 'node:querystring';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { joinParameters, parseQuery } from '../../core/http/query.ts';
import { Problem, quoteInput } from '../../core/problem.ts';
import type { Sliced } from '../../core/scheduling/slices.ts';
import { sliceByTurns, type Turns, waitForTurn } from '../../core/scheduling/turns.ts';
import { createRenderingCache, type RenderingCache } from '../../fetching/plan.ts';
import type { PathForm } from '../../reads/addresses/address-forms.ts';
import {
  isMediaNumber,
  type PathParameters,
  toReadParameters,
} from '../../reads/addresses/match-path.ts';
import { accepts } from '../../reads/addresses/own-path.ts';
import { type ReadId, reads } from '../../reads/index.ts';
import type { PlanContext, Understood } from '../../reads/read.ts';
import type { Answered, Reader } from '../../reads/run.ts';
import type { AccessLog } from '../../web/access-log.ts';
import { corsHeaders } from '../../web/cors.ts';
import { routeNotFound } from '../../web/errors.ts';
import { toReplyHeaders } from '../../web/headers.ts';
import {
  type PreparedReply,
  prepareReply,
  type ReplyOptions,
  sendPrepared,
} from '../../web/reply.ts';
import { type Identification, identityOf, refuseRead, toRequester } from '../key-status/plugin.ts';
import { lifecycleOf } from '../lifecycle/lifecycle.ts';
import type { Load, Work } from '../operations/load.ts';
import { addressPaths, createAddressAnswering } from './address-route.ts';
import { namesFormat, negotiate, offers } from './negotiation.ts';
import { isPreviewCrawler } from './preview-crawlers.ts';
import {
  type AliasRoute,
  chooseRead,
  listRouterPaths,
  pickParameters,
  type ReadRoute,
  type Route,
  surfaceOf,
} from './routes.ts';

export interface ReadingOptions {
  readonly reader: Reader;
  readonly context: PlanContext;
  readonly heavyTurns: Turns;
  readonly identification: Identification;
  readonly sharedCacheSeconds: number;
  readonly work: Work;
  readonly load: Load;
  readonly accessLog: AccessLog;
}

export interface ReadRoutesOptions extends ReadingOptions {
  readonly routes: readonly (ReadRoute | AliasRoute)[];
  /** Whether crawlers of link previews get a page of their own at the permalinks of posts. */
  readonly linkPreviews: boolean;
}

export interface AskedRead {
  readonly read: ReadId;
  readonly given: Readonly<ParsedUrlQuery>;
}

/** The parts of a handler that differ between the paths at which reads answer. */
export interface Answering {
  readonly config: FastifyContextConfig;
  readonly isRoute: (request: FastifyRequest) => boolean;
  /** @throws Problem if the request names no read */
  readonly toAsked: (request: FastifyRequest) => AskedRead;
  readonly hasPreviews: boolean;
}

/** Registers every row of the route table, and the whole addresses, all with one handler. */
export async function readRoutesPlugin(app: FastifyInstance, options: ReadRoutesOptions) {
  const handling = {
    ...options,
    understandOnce: createUnderstanding(options.reader),
    replies: createRenderingCache<PreparedReply>(),
  };
  const register = (url: string, answering: Answering): void => {
    const { config, isRoute } = answering;
    app.get(url, { config }, createHandler(answering, handling));
    app.methodTable.add(url, { allow: ['GET', 'HEAD'], isRoute, config });
  };
  for (const row of options.routes) {
    for (const { url, form } of listRouterPaths(row)) {
      const answering: Answering = {
        config: toConfig(row, form),
        isRoute: isRouteOf(row, form),
        hasPreviews: options.linkPreviews && row.surface === 'permalink',
        toAsked: (request) => toAsked(row, toGiven(form, request)),
      };
      if (row.surface === 'alias') app.head(url, answering, answerWithoutRead);
      register(url, answering);
    }
  }
  const answering = createAddressAnswering(options);
  for (const url of addressPaths) register(url, answering);
}

function toAsked(row: ReadRoute | AliasRoute, given: ParsedUrlQuery): AskedRead {
  if (row.surface !== 'alias') return { read: row.read, given };
  const read = chooseRead(row, given);
  // The successor has the same body, and gets known parameters alone: nothing warns of others.
  return { read, given: pickParameters(read, given) };
}

/** Returns the configuration of a row's route at one of its paths. */
export function toConfig(row: Route, form: PathForm): FastifyContextConfig {
  const surface = surfaceOf(row);
  const isRoute = isRouteOf(row, form);
  return row.surface === 'alias'
    ? { allowance: surface, deprecated: row }
    : { allowance: (request) => (isRoute(request) ? surface : null) };
}

/** HEAD of a deprecated route announces the deprecation without a read. */
function answerWithoutRead(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { refusal } = identityOf(request);
  if (refusal !== null) throw refusal;
  return reply.headers({ 'cache-control': 'no-store', vary: 'Accept' }).send();
}

/** Returns the headers of a prepared reply that differ from request to request. */
export function toReplyOptions(request: FastifyRequest, baseUrl: string): ReplyOptions {
  const { isPrivate, headers } = identityOf(request);
  const lifecycle = lifecycleOf(request, baseUrl);
  if (lifecycle === null) return { isPrivate, headers: headers(), link: null };
  const { link, ...dates } = lifecycle;
  return { isPrivate, headers: [...headers(), ...Object.entries(dates).flat()], link };
}

interface HandlerOptions extends ReadRoutesOptions {
  readonly understandOnce: ReturnType<typeof createUnderstanding>;
  readonly replies: RenderingCache<PreparedReply>;
}

function createHandler(answering: Answering, options: HandlerOptions) {
  const { reader, work, load, accessLog, understandOnce, heavyTurns, replies } = options;
  const { identification, context } = options;
  const answerLater = async (
    asked: Asked,
    recalled: Answered | undefined,
    reply: FastifyReply,
  ): Promise<void> => {
    const { request } = reply;
    const answered =
      recalled ??
      (await work.track(reader.fetch(asked.understood, toRequester(request, identification))));
    // In a pass of its own: understanding an answer and rendering it take a while each.
    const { address } = identification.clientOf(request);
    const isHere = await waitForTurn(heavyTurns, address, () => !request.socket.destroyed);
    if (!isHere) throw new Error('The caller has left.');
    const slices = sliceByTurns(heavyTurns, address);
    const prepared = await prepare(options, chooseView(request, asked, answered), slices);
    sendPrepared({ request, reply }, prepared, toReplyOptions(request, context.baseUrl));
    if (recalled === undefined) accessLog.notice(request, reply, 200);
  };
  return (request: FastifyRequest, reply: FastifyReply): unknown => {
    if (!answering.isRoute(request)) throw routeNotFound(request);
    refuseRead(request, load);
    const asked = understandOnce(request, answering);
    // A hit is answered without a promise: it is the common case.
    const answered = reader.getFresh(asked.understood);
    const view = answered && chooseView(request, asked, answered);
    const kept = view && replies.get(view.answered.answer.renderings, view.name);
    if (kept === undefined) return answerLater(asked, answered, reply);
    return sendPrepared({ request, reply }, kept, toReplyOptions(request, context.baseUrl));
  };
}

/** Creates the check whether a request is for a path of a row: a reserved name is no handle of a permalink. */
export function isRouteOf(row: Route, form: PathForm): (request: FastifyRequest) => boolean {
  // Fastify gives each parameter of the path as a string.
  return ({ params }) => row.surface === 'alias' || accepts(row, form, params as PathParameters);
}

/** Parsing and planning depend on the URL alone, so what a URL means is remembered. */
function createUnderstanding(reader: Reader) {
  const remembered = new LRUCache<string, Asked>({ max: 2000 });
  return (request: FastifyRequest, { toAsked, hasPreviews }: Answering): Asked => {
    const url = request.raw.url ?? '';
    const known = remembered.get(url);
    if (known !== undefined) return known;
    const { read, given } = toAsked(request);
    const understood = reader.understand(reads[read], given);
    const hasPreview = hasPreviews && read === 'getPost';
    const asked = { understood, hasPreview, variesByKey: reads[read].isBrowse };
    // Longer ones are understood anew each time, so that the memory stays small.
    if (url.length <= 1024) remembered.set(url, asked);
    return asked;
  };
}

/** Returns the parameters of the query, and those of the path over them. Throws `invalid_option` for a wrong `{n}`. */
export function toGiven(form: PathForm, request: FastifyRequest): ParsedUrlQuery {
  const path = request.params as PathParameters;
  const { n } = path;
  if (n !== undefined && !isMediaNumber(n)) {
    const detail = `The path ends with ${quoteInput(n)}; it takes the number of a photo or video, from 1 to 99.`;
    throw new Problem('invalid_option', { detail });
  }
  return joinParameters(parseQuery(request.raw.url ?? ''), toReadParameters(form, path));
}

interface Asked {
  readonly understood: Understood;
  readonly hasPreview: boolean;
  readonly variesByKey: boolean;
}

/** Returns the view of an answer that a request asks for, with the name under which its reply is kept. */
function chooseView(
  { headers: { accept, 'user-agent': agent } }: FastifyRequest,
  asked: Asked,
  answered: Answered,
) {
  const { understood, hasPreview } = asked;
  const { cache } = answered.answer;
  const isPreview = hasPreview && !namesFormat(accept) && isPreviewCrawler(agent);
  const format = understood.format ?? (isPreview ? 'preview' : negotiate(accept, offers.read));
  const view = hasPreview ? `by agent ${understood.views[format]}` : understood.views[format];
  return { ...asked, answered, format, name: cache === 'hit' ? view : `${cache} ${view}` };
}

/** Returns the reply to a read: the kept one, or one that is made and then kept beside the answer. */
async function prepare(
  { reader, replies, sharedCacheSeconds }: HandlerOptions,
  chosen: ReturnType<typeof chooseView>,
  sliced: Sliced,
): Promise<PreparedReply> {
  const { hasPreview, variesByKey, answered, format, name } = chosen;
  const { cache, source, renderings } = answered.answer;
  const kept = replies.get(renderings, name);
  if (kept !== undefined) return kept;
  const representation = await reader.represent(answered, format, sliced);
  const varies = { variesByAgent: hasPreview, variesByKey };
  const facts = { representation, source, cache, sharedCacheSeconds, ...varies };
  const prepared = prepareReply({ ...corsHeaders, ...toReplyHeaders(facts) }, representation.body);
  // What a miss or a bypass made is sent once; the next reply says `hit`.
  if (cache === 'hit' || cache === 'stale') replies.set(renderings, name, prepared, 1000);
  return prepared;
}
