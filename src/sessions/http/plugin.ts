import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { refuseOtherMediaTypes } from '../../lib/http/json-bodies.ts';
import type { Origins as PageOrigins } from '../../lib/http/origins.ts';
import { Problem } from '../../lib/problem.ts';
import { disableCompression } from '../../routes/compression.ts';
import type { CorsPolicy } from '../../routes/cors.ts';
import { routeNotFound } from '../../routes/problems.ts';
import { beginStream } from '../../routes/reply.ts';
import { refuseAll, serveRoutes } from '../../routes/route.ts';
import { readOwner } from '../ids.ts';
import { sendFirstMessage, sendFurtherMessage } from '../messages.ts';
import type { Receipt } from '../store/session-store.ts';
import { endSession, isLive, refuseInactive, type SessionRecord } from '../store/state.ts';
import {
  type Caller,
  type CallOptions,
  demandSession,
  demandToken,
  findSession,
  hasIdempotencyKey,
  readIdempotency,
  readToken,
  refuseStranger,
  refuseWithoutBearer,
  refuseWrongToken,
  type SessionRequest,
} from './calls.ts';
import { sessionRoutes, streamMediaType } from './endpoints.ts';
import { type ProblemReplies, sendBody, sendSessionProblem, toSessionHeaders } from './reply.ts';
import { type Body, parseBody, readMessage, readStreamQuery, readString } from './requests.ts';

export interface SessionsOptions extends HandlerOptions {
  /** Check that rejects requests from web pages whose `Origin` is not allowed. */
  readonly pages: Pick<PageOrigins, 'faultOf'>;
  readonly problems: ProblemReplies;
  /** Web origins whose pages may use the service; `*` for any. If empty, CORS is off. */
  readonly origins: readonly string[];
}

const sessionConfig = { decidesWhileDraining: true };

/** Registers the session service below the prefix of `app`, such as `/svc`. */
export async function sessionService(app: FastifyInstance, options: SessionsOptions) {
  const { origins, pages, problems } = options;
  app.decorateRequest('knownSession', null);
  disableCompression(app);
  app.setErrorHandler((error: Error, request, reply) =>
    sendSessionProblem(error, { request, reply }, problems),
  );
  app.addHook('onRequest', (request, _reply, done) => {
    done(pages.faultOf(request.headers) ?? undefined);
  });
  app.addHook('onSend', async (request, reply) => {
    reply.headers(toSessionHeaders(request));
  });
  readBytes(app);
  app.register(async (routes) => registerRoutes(routes, options), { prefix: '/v1' });
  for (const url of ['', '/*']) {
    refuseAll(app, url, { ...sessionConfig, cors: toSessionCors(origins, []) });
  }
}

function readBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = async ({ headers }: FastifyRequest, body: Buffer) => {
    refuseOtherMediaTypes(headers, body.length > 0); // the length of a chunked body is not known before
    return body;
  };
  app.addContentTypeParser('*', { parseAs: 'buffer' }, parse);
}

function registerRoutes(app: FastifyInstance, options: SessionsOptions): void {
  const { service } = options;
  const { bodyBytes: bodyLimit } = service.limits;
  const accept = async () => service.refuseUnlessReady();
  const identify = async (request: FastifyRequest) => {
    if (isEmptyId(request.params)) throw routeNotFound(request);
    refuseWithoutBearer(request, options);
  };
  const checkType = async ({ headers }: FastifyRequest) => refuseOtherMediaTypes(headers);
  const checkState = async (request: SessionRequest) => checkSession(request, options);
  type Before = (request: SessionRequest) => Promise<void>;
  const post = (onRequest: Before[], handle: Handle<SessionRequest>) => ({
    bodyLimit,
    onRequest,
    handler: (request: SessionRequest, reply: FastifyReply) => handle(request, reply, options),
  });
  const handlers = {
    getSessionHealth: {
      config: { isProbe: true },
      handler: (request: FastifyRequest, reply: FastifyReply) =>
        checkHealth(request, reply, options),
    },
    startSession: post([identify, accept, checkType], start),
    continueSession: post([identify, accept, checkState, checkType], followUp),
    streamSession: { ...post([identify], sendStream), head: null },
    cancelTurn: post([identify, checkType], cancel),
    resetSession: post([identify, checkType], reset),
  };
  serveRoutes(app, sessionRoutes, handlers, {
    configOf: (allow) => ({ ...sessionConfig, cors: toSessionCors(options.origins, allow) }),
    isRoute: ({ params }) => !isEmptyId(params),
  });
}

const isEmptyId = (params: unknown): boolean =>
  typeof params === 'object' && params !== null && Object.values(params).includes('');

const bothNamesOf = (name: string) => [`X-Eve-${name}`, `X-${name}`];
const streamHeaders = ['Stream-Version', 'Stream-Format', 'Stream-Tail-Index'];
const exposedHeaders = [
  ...bothNamesOf('Session-Id'),
  'X-Request-Id',
  ...streamHeaders.flatMap(bothNamesOf),
  'X-Accel-Buffering',
  'Location',
  'Retry-After',
];

const allowedHeaders = ['X-Continuation-Token', 'Authorization', 'Content-Type', 'Idempotency-Key'];

function toSessionCors(origins: readonly string[], methods: string[]): CorsPolicy | false {
  if (origins.length === 0) return false;
  const origin = origins.includes('*') ? '*' : [...origins];
  return { origin, methods, exposedHeaders, allowedHeaders };
}

interface HandlerOptions extends CallOptions {
  readonly base: string;
  readonly clientOf: (request: FastifyRequest) => string;
}

type Handle<Request> = (
  request: Request,
  reply: FastifyReply,
  options: HandlerOptions,
) => Promise<unknown>;

const checkHealth: Handle<FastifyRequest> = async (_request, reply, { service }) => {
  service.refuseUnlessReady();
  await service.health.check();
  return sendBody(reply, { ok: true, status: 'ready', workflowId: 'perch-session-1' });
};

const start: Handle<FastifyRequest> = async (request, reply, options) => {
  const { service, base } = options;
  const { text } = readMessage(demandBody(request), service.limits.messageBytes);
  const caller = readCaller(request, options);
  const idempotency = readIdempotency(request, caller, service);
  let receipt = await service.store.recall(idempotency);
  if (receipt === undefined) {
    await service.rates.spendStart(caller.owner, caller.client);
    receipt = await sendFirstMessage({ text, ...caller, idempotency, span: request.span }, service);
  }
  const { sessionId, deliveryId } = receipt;
  request.knownSession = sessionId;
  reply.code(202).header('location', `${base}/session/${sessionId}/stream`);
  const continuationToken = service.tokens.of(sessionId);
  return sendBody(reply, {
    sessionId,
    continuationToken,
    ok: true,
    status: 'accepted',
    deliveryId,
  });
};

const followUp: Handle<SessionRequest> = async (request, reply, options) => {
  const { sessionId } = request.params;
  const { deliveryId, queued } = await followUpOnce(request, options);
  const continuationToken = options.service.tokens.of(sessionId);
  const accepted = { status: 'accepted', deliveryId, queued };
  return sendBody(reply.code(202), { ok: true, sessionId, continuationToken, ...accepted });
};

async function followUpOnce(request: SessionRequest, options: HandlerOptions): Promise<Receipt> {
  const { service } = options;
  const { sessionId } = request.params;
  const caller = readCaller(request, options);
  const idempotency = readIdempotency(request, caller, service);
  const known = await service.store.recall(idempotency);
  // `checkSession` does not check the state of requests with an idempotency key.
  if (idempotency !== null && known === undefined)
    refuseInactive(await findSession(request, options));
  const body = demandBody(request);
  const { text, isRefusedWhileRunning } = readMessage(body, service.limits.messageBytes);
  demandToken(request, body, options);
  if (known !== undefined) return known;
  await service.rates.spendMessage(caller.client);
  const check = isRefusedWhileRunning ? refuseRunning : undefined;
  const message = { sessionId, text, idempotency, span: request.span, check };
  return sendFurtherMessage(message, service);
}

function refuseRunning(record: SessionRecord): void {
  refuseInactive(record);
  if (record.pending.length === 0) return;
  throw new Problem('turn_in_progress', {
    detail: 'A turn is queued or running, and the request has the `turnPolicy` `reject`.',
  });
}

const sendStream: Handle<SessionRequest> = async (request, reply, options) => {
  const { service, rules } = options;
  const { sessionId } = request.params;
  const opened = await service.streams.openStream(sessionId, (found) => {
    const record = demandSession(found, request, options);
    const shown = readToken(request);
    refuseWrongToken(shown, request, options);
    const isTold = shown !== undefined || rules.streamToken === 'always';
    const token = isTold ? service.tokens.of(sessionId) : null;
    const client = service.toClient(options.clientOf(request));
    return { record, ...readStreamQuery(request.raw.url ?? ''), token, client };
  });
  const headers = { ...toSessionHeaders(request), ...toStreamHeaders(opened.record.events - 1) };
  await opened.sendTo(beginStream(reply, headers));
};

const streamVersion = '21';

function toStreamHeaders(tailIndex: number): Readonly<Record<string, string>> {
  return {
    'content-type': streamMediaType,
    'cache-control': 'no-store, no-transform',
    'x-eve-stream-version': streamVersion,
    'x-stream-version': streamVersion,
    'x-eve-stream-format': 'ndjson',
    'x-stream-format': 'ndjson',
    'x-eve-stream-tail-index': String(tailIndex),
    'x-stream-tail-index': String(tailIndex),
    'x-accel-buffering': 'no',
  };
}

const cancel: Handle<SessionRequest> = async (request, reply, options) => {
  const { service } = options;
  const { sessionId } = request.params;
  const body = readBody(request);
  const turnId = readString(body, 'turnId') ?? null;
  const token = readToken(request, body);
  const found = await service.store.find(sessionId);
  if (found.kind !== 'unknown') request.knownSession = sessionId;
  if (found.kind === 'known') refuseStranger(found.record, request, options);
  if (found.kind !== 'known' || !isLive(found.record.state)) {
    return sendBody(reply, { ok: true, status: 'no_active_turn' });
  }
  refuseWrongToken(token, request, options);
  await service.turns.cancel(sessionId, turnId);
  return sendBody(reply.code(202), { ok: true, sessionId, status: 'accepted' });
};

const reset: Handle<SessionRequest> = async (request, reply, options) => {
  const { service } = options;
  const { sessionId } = request.params;
  const record = await findSession(request, options);
  const body = readBody(request);
  const isActive = isLive(record.state);
  if (isActive) demandToken(request, body, options);
  const end = (now: SessionRecord) =>
    isLive(now.state) ? endSession(now, 'reset', service.clock.now()) : null;
  const ended = isActive && (await service.store.change(sessionId, end));
  if (!ended) return sendBody(reply, { ok: true, status: 'no_active_session' });
  return sendBody(reply, { ok: true, status: 'reset', previousSessionId: sessionId });
};

function readCaller(request: FastifyRequest, { service, clientOf }: HandlerOptions): Caller {
  const client = service.toClient(clientOf(request));
  return { owner: readOwner(request.raw, service.secret), client };
}

const readBody = ({ body }: FastifyRequest): Body | undefined =>
  Buffer.isBuffer(body) ? parseBody(body) : undefined;

function demandBody(request: FastifyRequest): Body {
  const body = readBody(request);
  if (body !== undefined) return body;
  throw new Problem('invalid_body', { detail: 'The body is empty. Send a JSON object.' });
}

async function checkSession(request: SessionRequest, options: HandlerOptions) {
  const record = await findSession(request, options);
  // A repeated request gets the earlier reply, even if the session has ended since.
  const owner = readOwner(request.raw, options.service.secret);
  if (!hasIdempotencyKey(request, owner)) refuseInactive(record);
}
