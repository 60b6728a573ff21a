import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HistoryImport, HistoryImporter } from '../../fetching/histories/import-history.ts';
import { toJsonBody } from '../../lib/http/json-bodies.ts';
import { Problem } from '../../lib/problem.ts';
import type { Quotas, Reservation } from '../../lib/scheduling/quotas.ts';
import type { HistoryFormat } from '../../model/history.ts';
import { importProfilePosts } from '../../reads/import-profile-posts.ts';
import type { RenderContext } from '../../render/context.ts';
import { createHistoryFeed } from '../../render/feeds/feeds.ts';
import {
  createHistoryDocument,
  type HistoryHeader,
  historyMediaTypes,
  renderPostLines,
  toMetaLine,
} from '../../render/history.ts';
import { overloadedByReplies } from '../admission/body-limits.ts';
import { identityOf, refuseRead, setAllowances, toRequester } from '../key-status/plugin.ts';
import { describeProblem, routeNotFound, toProblem } from '../problems.ts';
import { beginStream } from '../reply.ts';
import { route } from '../route.ts';
import { negotiate, offers } from './negotiation.ts';
import { isRouteOf, type ReadingOptions, toConfig, toParameters } from './read-routes.ts';
import { type HistoryRoute, historyRoutes, listRouterPaths, type RouterPath } from './routes.ts';

interface HistoryRoutesOptions
  extends Pick<ReadingOptions, 'identification' | 'work' | 'load' | 'accessLog'> {
  readonly importer: HistoryImporter;
  readonly quotas: Quotas;
  readonly context: RenderContext;
}

export async function historyRoutesPlugin(app: FastifyInstance, options: HistoryRoutesOptions) {
  setAllowances(app, options.identification);
  for (const row of historyRoutes) {
    for (const path of listRouterPaths(row)) registerPath(app, { row, ...path }, options);
  }
}

function registerPath(
  app: FastifyInstance,
  { row, url, pattern }: RouterPath & { readonly row: HistoryRoute },
  options: HistoryRoutesOptions,
): void {
  const isRoute = isRouteOf(row, pattern);
  const config = toConfig(row, pattern);
  const parse = (request: FastifyRequest) => {
    if (!isRoute(request)) throw routeNotFound(request);
    refuseRead(request, options.load);
    const { format, ...parsed } = importProfilePosts.parse(toParameters(pattern, request));
    return { ...parsed, format: format ?? negotiate(request.headers.accept, offers.history) };
  };
  const served = {
    handler: (request: FastifyRequest, reply: FastifyReply) =>
      options.work.track(importAndSend(reply, parse(request), options)),
    head: (request: FastifyRequest, reply: FastifyReply) =>
      reply.headers(headersOf(parse(request).format)).send(),
  };
  route(app, url, { GET: served }, { isRoute, config });
}

interface HistoryRequest extends Omit<ReturnType<typeof importProfilePosts.parse>, 'format'> {
  readonly format: HistoryFormat;
}

type SentHistory = Readonly<{ header: HistoryHeader; posts: HistoryImport['posts'] }>;

async function importAndSend(
  reply: FastifyReply,
  { format, query, warnings, toUrl }: HistoryRequest,
  options: HistoryRoutesOptions,
): Promise<void> {
  const { request } = reply;
  const { importer, identification, accessLog } = options;
  const delivery = format === 'ndjson' ? 'stream' : 'document';
  const history = await importer.begin(query, toRequester(request, identification), delivery);
  const { account, source, startedMs: fetchedAtMs } = history;
  const header = { handle: account.screen_name, account, query, source, fetchedAtMs, toUrl };
  const sent = { header, posts: addWarnings(history.posts, warnings) };
  if (format !== 'ndjson') {
    const document = { format, ...sent };
    await sendDocument(reply, document, options).finally(() => history.posts.close());
  } else {
    const headers = { ...headersOf(format), 'x-source': source };
    const response = beginStream(reply, { ...headers, ...identityOf(request).headers() });
    await sendHistoryLines({ request, response }, sent, options.context.baseUrl);
  }
  accessLog.logIfNotable(request, reply, 200);
}

type Posts = HistoryImport['posts'];

function addWarnings(posts: Posts, warnings: readonly string[]): Posts {
  return {
    next: async () => {
      const step = await posts.next();
      if (step.done !== true) return step;
      const { value: end } = step;
      return { done: true, value: { ...end, warnings: [...warnings, ...end.warnings] } };
    },
    close: () => posts.close(),
  };
}

async function sendHistoryLines(
  { request, response }: { readonly request: FastifyRequest; readonly response: ServerResponse },
  { header, posts }: SentHistory,
  baseUrl: string,
): Promise<void> {
  const write = createWriter(response);
  const writeLine = (line: object) => write(toJsonBody(line));
  const describe = (error: Error) =>
    describeProblem(toProblem(error, request), request, baseUrl).document;
  try {
    let step = await posts.next();
    for (; step.done !== true; step = await posts.next()) {
      await write(renderPostLines(header, step.value));
      if (response.destroyed) return;
    }
    const { failure } = step.value;
    const line = toMetaLine(header, step.value);
    const hasFailed = failure instanceof Problem;
    await writeLine(hasFailed ? { error: { ...describe(failure), ...line } } : line);
  } catch (error) {
    // A client that has disconnected gets no error line.
    if (!(error instanceof Error) || request.signal.aborted) return;
    await writeLine({ error: describe(error) });
  } finally {
    await posts.close();
    response.end();
  }
}

function createWriter(response: ServerResponse): (text: string) => Promise<void> {
  let resume: () => void = () => undefined;
  response.on('error', () => resume());
  response.on('close', () => resume());
  return (text) =>
    new Promise((resolve) => {
      resume = resolve;
      if (response.destroyed) resolve();
      else response.write(text, () => resolve());
    });
}

type DocumentFormat = Exclude<HistoryFormat, 'ndjson'>;
type SentDocument = SentHistory & { readonly format: DocumentFormat };

async function sendDocument(
  reply: FastifyReply,
  sent: SentDocument,
  { quotas, identification, context }: HistoryRoutesOptions,
): Promise<void> {
  const hold = quotas.open('replyBytes', identification.clientOf(reply.request));
  try {
    const body = await readDocument(sent, hold, context);
    hold.release(); // sending the reply reserves the bytes again
    await reply.headers({ ...headersOf(sent.format), 'x-source': sent.header.source }).send(body);
  } finally {
    hold.release();
  }
}

function headersOf(format: HistoryFormat) {
  return {
    'content-type': historyMediaTypes[format],
    'cache-control': 'no-store',
    vary: 'Accept, Authorization',
  };
}

const maxDocumentBytes = 16 * 1_048_576;

const tooLarge =
  'The history is larger than 16 MiB as one document. Send `format=ndjson`, which has no limit, or a smaller `max_posts`.';

/**
 * Reads a whole history into one document. Its size, reserved in `hold`, counts toward the limits
 * on unread reply bytes.
 * @throws Problem `invalid_option` if it is larger than 16 MiB, `overloaded` if a limit is reached,
 *   and the errors of `PostStream.next`
 */
async function readDocument(
  { format, header, posts }: SentDocument,
  hold: Reservation,
  context: RenderContext,
): Promise<Buffer> {
  const document =
    format === 'json'
      ? createHistoryDocument(header)
      : createHistoryFeed(header, { format, context });
  const pieces: Buffer[] = [];
  let size = 0;
  const toPiece = (text: string): Buffer => {
    const piece = Buffer.from(text);
    size += piece.length;
    if (size > maxDocumentBytes)
      throw new Problem('invalid_option', { detail: tooLarge, param: 'max_posts' });
    if (!hold.take(piece.length)) throw overloadedByReplies();
    return piece;
  };
  let step = await posts.next();
  for (; step.done !== true; step = await posts.next()) {
    pieces.push(toPiece(document.add(step.value)));
  }
  const { start, end } = document.finish(step.value);
  return Buffer.concat([toPiece(start), ...pieces, toPiece(end)]);
}
