import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../core/problem.ts';
import type { Hold, Ledger } from '../../core/scheduling/ledger.ts';
import type { HistoryQuery } from '../../fetching/histories/history-query.ts';
import type { HistoryImport, HistoryImporter } from '../../fetching/histories/import-history.ts';
import type { HistoryFormat } from '../../model/history.ts';
import { importProfilePosts } from '../../reads/import-profile-posts.ts';
import { createHistoryDocument, historyMediaTypes } from '../../render/history.ts';
import type { AccessLog } from '../../web/access-log.ts';
import { corsHeaders } from '../../web/cors.ts';
import { routeNotFound } from '../../web/errors.ts';
import { privateCaching } from '../../web/reply.ts';
import { overloadedByReplies, releaseWithReply } from '../admission/reply-bytes.ts';
import type { Identification } from '../key-status/identity.ts';
import { type Load, overloaded } from '../operations/load.ts';
import type { Work } from '../operations/work.ts';
import { type SentHistory, sendHistoryLines } from './history-lines.ts';
import { negotiate, offers } from './negotiation.ts';
import { isRouteOf, toGiven } from './read-routes.ts';
import { createRouteHeaders, type RouteHeaders } from './route-headers.ts';
import { type HistoryRoute, listRouterPaths, type RouterPath } from './routes.ts';

/** The context of the routes of histories: all that they may use. */
export interface HistoryRoutesOptions {
  readonly routes: readonly HistoryRoute[];
  readonly importer: HistoryImporter;
  readonly identification: Identification;
  readonly ledger: Ledger;
  /** Perch's own address, without a trailing slash. */
  readonly baseUrl: string;
  readonly work: Work;
  readonly load: Load;
  readonly accessLog: AccessLog;
}

/** Registers the rows at which histories are imported. */
export async function historyRoutesPlugin(app: FastifyInstance, options: HistoryRoutesOptions) {
  for (const row of options.routes) {
    for (const path of listRouterPaths(row)) registerPath(app, { row, ...path }, options);
  }
}

/** HEAD tells of a history without an import. */
function registerPath(
  app: FastifyInstance,
  { row, url, form }: RouterPath & { readonly row: HistoryRoute },
  options: HistoryRoutesOptions,
): void {
  const isRoute = isRouteOf(row, form);
  const headers = createRouteHeaders(row, options);
  const describe = (request: FastifyRequest) =>
    isRoute(request) ? { ...corsHeaders, ...headers.describe(request) } : corsHeaders;
  const config = { cors: false, describe };
  const understand = (request: FastifyRequest) => {
    const refusal = options.load.isHigh ? overloaded() : headers.identityOf(request).refusal;
    if (refusal !== null) throw isRoute(request) ? refusal : routeNotFound(request);
    const { format, ...asked } = importProfilePosts.understand(toGiven(row, form, request));
    return { ...asked, format: format ?? negotiate(request.headers.accept, offers.history) };
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
  app.methodTable.add(url, { allow: ['GET', 'HEAD'], isRoute, describe });
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
  const sending = asked.format === 'json' ? 'document' : 'stream';
  const waiting = headers.waitingOf(request);
  const begun = addWarnings(await importer.begin(asked.query, waiting, sending), asked.warnings);
  if (asked.format === 'json') {
    const sent = toSent(begun, asked.query);
    await sendHistoryJson(exchange, sent, options).finally(() => begun.posts.close());
  } else {
    const { raw } = reply.hijack();
    raw.writeHead(200, listHeaders(request, headers, { format: 'ndjson', source: begun.source }));
    const sent = toSent(begun, asked.query);
    await sendHistoryLines({ request, response: raw }, sent, baseUrl);
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

/** The document is sent when it is complete, because its end is part of it. */
async function sendHistoryJson(
  { request, reply }: Exchange,
  sent: SentHistory,
  { ledger, identification, headers }: AnswerOptions,
): Promise<void> {
  const hold = ledger.open('replyBytes', identification.clientOf(request));
  releaseWithReply(hold, reply);
  const body = await readHistoryJson(sent, hold);
  const { raw }: { raw: ServerResponse } = reply.hijack();
  const { source } = sent.about;
  const list = listHeaders(request, headers, { format: 'json', source });
  raw.writeHead(200, [...list, 'content-length', String(body.length)]).end(body);
}

function toSent(
  { account, source, startedMs, posts }: HistoryImport,
  query: HistoryQuery,
): SentHistory {
  const handle = account.screen_name;
  return { about: { handle, account, query, source, fetchedAtMs: startedMs }, posts };
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

/** Maximum size of a history as one JSON document, in bytes. */
const maxDocumentBytes = 16_777_216;

/**
 * Reads a history to its end and returns it as one JSON document.
 *
 * @param hold Takes the bytes of the document (`replyBytes`).
 * @throws Problem `invalid_option` for a document over 16 MiB; `overloaded`; see `PostStream.next`
 */
async function readHistoryJson({ about, posts }: SentHistory, hold: Hold): Promise<Buffer> {
  const document = createHistoryDocument(about);
  const pieces: Buffer[] = [];
  let size = 0;
  const write = (text: string): void => {
    const piece = Buffer.from(text);
    size += piece.length;
    if (size > maxDocumentBytes) throw tooLarge();
    if (!hold.take(piece.length)) throw overloadedByReplies();
    pieces.push(piece);
  };
  write(document.begin());
  let step = await posts.next();
  for (; step.done !== true; step = await posts.next()) {
    write(document.add(step.value));
  }
  write(document.end(step.value));
  return Buffer.concat(pieces);
}

function tooLarge(): Problem {
  const mebibytes = maxDocumentBytes / 1_048_576;
  return new Problem('invalid_option', {
    detail: `The history is over ${mebibytes} MiB as one JSON document. Send \`format=ndjson\`, which has no limit, or a smaller \`max_posts\`.`,
  });
}
