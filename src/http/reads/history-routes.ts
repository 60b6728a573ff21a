import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../core/problem.ts';
import type { Hold, Ledger } from '../../core/scheduling/ledger.ts';
import type { HistoryQuery } from '../../fetching/histories/history-query.ts';
import type { HistoryImport, HistoryImporter } from '../../fetching/histories/import-history.ts';
import type { HistoryFormat } from '../../model/history.ts';
import { importProfilePosts } from '../../reads/import-profile-posts.ts';
import { createHistoryDocument, historyMediaTypes } from '../../render/history.ts';
import type { AccessLog } from '../../web/access-log.ts';
import { routeNotFound } from '../../web/errors.ts';
import { beginStream } from '../../web/reply.ts';
import { overloadedByReplies } from '../admission/reply-bytes.ts';
import type { Identification } from '../key-status/identity.ts';
import { identityOf, toKeyHeaders, toWaiting } from '../key-status/plugin.ts';
import { type Load, overloaded } from '../operations/load.ts';
import type { Work } from '../operations/work.ts';
import { type SentHistory, sendHistoryLines } from './history-lines.ts';
import { negotiate, offers } from './negotiation.ts';
import { isRouteOf, toConfig, toGiven } from './read-routes.ts';
import { type HistoryRoute, listRouterPaths, type RouterPath } from './routes.ts';

export interface HistoryRoutesOptions {
  readonly routes: readonly HistoryRoute[];
  readonly importer: HistoryImporter;
  readonly identification: Identification;
  readonly ledger: Ledger;
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

/** HEAD answers without an import. */
function registerPath(
  app: FastifyInstance,
  { row, url, form }: RouterPath & { readonly row: HistoryRoute },
  options: HistoryRoutesOptions,
): void {
  const isRoute = isRouteOf(row, form);
  const config = toConfig(row, form);
  const understand = (request: FastifyRequest) => {
    if (!isRoute(request)) throw routeNotFound(request);
    const refusal = options.load.isHigh ? overloaded() : identityOf(request).refusal;
    if (refusal !== null) throw refusal;
    const { format, ...asked } = importProfilePosts.understand(toGiven(row, form, request));
    return { ...asked, format: format ?? negotiate(request.headers.accept, offers.history) };
  };
  app.head(url, { config }, (request, reply) =>
    reply.headers(headersOf(understand(request).format)).send(),
  );
  app.get(url, { config }, (request, reply) =>
    options.work.track(importAndSend({ request, reply }, understand(request), options)),
  );
  app.methodTable.add(url, { allow: ['GET', 'HEAD'], isRoute, config });
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface Asked extends Omit<ReturnType<typeof importProfilePosts.understand>, 'format'> {
  readonly format: HistoryFormat;
}

async function importAndSend(
  exchange: Exchange,
  { format, query, warnings }: Asked,
  options: HistoryRoutesOptions,
): Promise<void> {
  const { request, reply } = exchange;
  const { importer, identification, accessLog } = options;
  const sending = format === 'json' ? 'document' : 'stream';
  const begun = await importer.begin(query, toWaiting(request, identification), sending);
  const sent = toSent(addWarnings(begun, warnings), query);
  if (format === 'json') {
    await sendHistoryJson(exchange, sent, options).finally(() => begun.posts.close());
  } else {
    const response = beginStream(reply, {
      ...headersOf(format),
      'x-source': begun.source,
      ...toKeyHeaders(identityOf(request)),
    });
    await sendHistoryLines({ request, response }, sent, options.baseUrl);
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
  { ledger, identification }: HistoryRoutesOptions,
): Promise<void> {
  const hold = ledger.open('replyBytes', identification.clientOf(request));
  try {
    const body = await readHistoryJson(sent, hold);
    hold.release(); // sending takes the bytes again
    await reply.headers({ ...headersOf('json'), 'x-source': sent.about.source }).send(body);
  } finally {
    hold.release();
  }
}

function toSent(
  { account, source, startedMs, posts }: HistoryImport,
  query: HistoryQuery,
): SentHistory {
  const handle = account.screen_name;
  return { about: { handle, account, query, source, fetchedAtMs: startedMs }, posts };
}

/** Returns the headers of a history. Each is made anew, so that nobody keeps one. */
function headersOf(format: HistoryFormat) {
  return {
    'content-type': historyMediaTypes[format],
    'cache-control': 'no-store',
    vary: 'Accept, Authorization',
  };
}

const maxDocumentBytes = 16_777_216;

/** Reads a whole history into JSON. Throws `invalid_option` over 16 MiB, `overloaded`, and what `PostStream.next` throws. */
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
