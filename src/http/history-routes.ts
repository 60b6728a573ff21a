import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HistoryImport, HistoryImporter } from '../fetching/history/import-history.ts';
import type { HistoryFormat } from '../model/history.ts';
import type { Post } from '../model/post.ts';
import { importProfilePosts } from '../reads/import-profile-posts.ts';
import { historyMediaTypes, renderHistoryJson } from '../render/history.ts';
import type { AccessLog } from './access-log.ts';
import { corsHeaders } from './cors.ts';
import { routeNotFound } from './errors.ts';
import { sendHistoryLines } from './history-lines.ts';
import type { Identification } from './identity.ts';
import { type Load, overloaded } from './load.ts';
import { refuseOtherMethods } from './methods.ts';
import { negotiateHistory } from './negotiation.ts';
import { isRouteOf, toGiven, toWaiting } from './read-routes.ts';
import { privateCaching } from './reply.ts';
import { createRouteHeaders, type RouteHeaders } from './route-headers.ts';
import { type HistoryRoute, toRouterPath } from './routes.ts';
import type { Work } from './work.ts';

/** The context of the routes of histories: all that they may use. */
export interface HistoryRoutesOptions {
  readonly routes: readonly HistoryRoute[];
  readonly importer: HistoryImporter;
  readonly identification: Identification;
  /** Perch's own address, without a trailing slash. */
  readonly baseUrl: string;
  readonly work: Work;
  readonly load: Load;
  readonly accessLog: AccessLog;
}

/** Registers the rows at which histories are imported. */
export async function historyRoutesPlugin(app: FastifyInstance, options: HistoryRoutesOptions) {
  for (const row of options.routes) registerRow(app, row, options);
}

/** HEAD tells of a history without an import. */
function registerRow(app: FastifyInstance, row: HistoryRoute, options: HistoryRoutesOptions): void {
  const url = toRouterPath(row.path);
  const isRoute = isRouteOf(row);
  const headers = createRouteHeaders(row, options);
  const describe = (request: FastifyRequest) =>
    isRoute(request) ? { ...corsHeaders, ...headers.describe(request) } : corsHeaders;
  const config = { cors: false, describe };
  const understand = (request: FastifyRequest) => {
    const refusal = options.load.isHigh ? overloaded() : headers.identityOf(request).refusal;
    if (refusal !== null) throw isRoute(request) ? refusal : routeNotFound(request);
    const { format, ...asked } = importProfilePosts.understand(toGiven(row, request));
    return { ...asked, format: format ?? negotiateHistory(request.headers.accept) };
  };
  app.head(url, { config }, (request, reply) => {
    const { format } = understand(request);
    reply
      .hijack()
      .raw.writeHead(200, listHeaders(request, headers, { format }))
      .end();
  });
  app.get(url, { config }, (request, reply) =>
    options.work.track(answer({ request, reply }, understand(request), { ...options, headers })),
  );
  refuseOtherMethods(app, url, { allow: ['GET', 'HEAD'], isRoute, describe });
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface Asked extends Omit<ReturnType<typeof importProfilePosts.understand>, 'format'> {
  readonly format: HistoryFormat;
}

type AnswerOptions = HistoryRoutesOptions & { readonly headers: RouteHeaders };

/** Whoever has left gets nothing, and is no failure of ours. */
async function answer(exchange: Exchange, asked: Asked, options: AnswerOptions): Promise<void> {
  const { request, reply } = exchange;
  try {
    await importAndSend(exchange, asked, options);
  } catch (error) {
    if (!request.signal.aborted) throw error;
    reply.hijack().raw.destroy();
  }
}

async function importAndSend(
  exchange: Exchange,
  asked: Asked,
  options: AnswerOptions,
): Promise<void> {
  const { request, reply } = exchange;
  const { headers, importer, accessLog, baseUrl } = options;
  const waiting = toWaiting(request, headers.identityOf(request));
  const begun = addWarnings(await importer.begin(asked.query, waiting), asked.warnings);
  if (asked.format === 'json') {
    await sendHistoryJson(exchange, begun, headers).finally(() => begun.posts.close());
  } else {
    const { raw } = reply.hijack();
    raw.writeHead(200, listHeaders(request, headers, { format: 'ndjson', source: begun.source }));
    await sendHistoryLines({ request, response: raw }, toSent(begun), baseUrl);
  }
  accessLog.notice(request, reply, 200);
}

/** Adds warnings about the request to those that the end of an import has. */
function addWarnings(begun: HistoryImport, warnings: readonly string[]): HistoryImport {
  if (warnings.length === 0) return begun;
  const { posts } = begun;
  const next: typeof posts.next = async () => {
    const step = await posts.next();
    if (step.done !== true) return step;
    return {
      done: true,
      value: { ...step.value, warnings: [...warnings, ...step.value.warnings] },
    };
  };
  return { ...begun, posts: { next, close: () => posts.close() } };
}

/** The document has its end in it, so that it is sent when all is there. */
async function sendHistoryJson(
  { request, reply }: Exchange,
  begun: HistoryImport,
  headers: RouteHeaders,
): Promise<void> {
  const posts: Post[] = [];
  let step = await begun.posts.next();
  for (; step.done !== true; step = await begun.posts.next()) {
    for (const { post } of step.value) posts.push(post);
  }
  const body = Buffer.from(renderHistoryJson(toSent(begun).about, posts, step.value));
  const { raw }: { raw: ServerResponse } = reply.hijack();
  const list = listHeaders(request, headers, { format: 'json', source: begun.source });
  raw.writeHead(200, [...list, 'content-length', String(body.length)]).end(body);
}

function toSent({ account, source, startedMs, posts }: HistoryImport) {
  const about = { handle: account.screen_name, account, source, fetchedAtMs: startedMs };
  return { about, posts };
}

interface Sent {
  readonly format: HistoryFormat;
  /** Left out where nothing was read. */
  readonly source?: string;
}

/** Each answer is made anew, so that nobody keeps one; names and values in turn. */
function listHeaders(
  request: FastifyRequest,
  headers: RouteHeaders,
  { format, source }: Sent,
): string[] {
  const own = headers.ownOf(request);
  return [
    ...['x-request-id', request.id, 'x-content-type-options', 'nosniff'],
    ...['content-type', historyMediaTypes[format]],
    ...['cache-control', own.isPrivate ? privateCaching : 'no-store'],
    ...['vary', 'Accept, Authorization'],
    ...(source === undefined ? [] : ['x-source', source]),
    ...Object.entries(corsHeaders).flat(),
    ...own.headers,
  ];
}
