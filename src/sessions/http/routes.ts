import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../lib/problem.ts';
import { beginStream } from '../../web/reply.ts';
import { expiredSession, sendFirstMessage, sendFurtherMessage } from '../messages.ts';
import type { Receipt } from '../store/session-store.ts';
import { endSession, isLive, refuseInactive, type SessionRecord } from '../store/state.ts';
import {
  type Caller,
  type CallOptions,
  demandToken,
  findSession,
  hasIdempotencyKey,
  readIdempotency,
  readToken,
  refuseStranger,
  refuseWrongToken,
  type SessionRequest,
} from './calls.ts';
import { streamMediaType } from './endpoints.ts';
import { sendBody, toSessionHeaders } from './reply.ts';
import { type Body, parseBody, readMessage, readStreamQuery, readString } from './requests.ts';
import { readOwner } from './tokens.ts';

export interface HandlerOptions extends CallOptions {
  readonly base: string;
  readonly clientOf: (request: FastifyRequest) => string;
}

export type Handle<Request> = (
  request: Request,
  reply: FastifyReply,
  options: HandlerOptions,
) => Promise<unknown>;

export const checkHealth: Handle<FastifyRequest> = async (_request, reply, { service }) => {
  service.refuseUnlessReady();
  await service.health.check();
  return sendBody(reply, { ok: true, status: 'ready', workflowId: 'perch-session-1' });
};

export const start: Handle<FastifyRequest> = async (request, reply, options) => {
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

export const followUp: Handle<SessionRequest> = async (request, reply, options) => {
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

/** Checks that a session is idle. @throws Problem `session_not_active`, `turn_in_progress` */
function refuseRunning(record: SessionRecord): void {
  refuseInactive(record);
  if (record.pending.length === 0) return;
  throw new Problem('turn_in_progress', {
    detail: 'A turn is queued or running, and the request has the `turnPolicy` `reject`.',
  });
}

export const sendStream: Handle<SessionRequest> = async (request, reply, options) => {
  const { service, rules } = options;
  const { sessionId } = request.params;
  const shown = readToken(request);
  refuseWrongToken(shown, request, options);
  const isTold = shown !== undefined || rules.streamToken === 'always';
  const opened = await service.streams.openStream({
    sessionId,
    ...readStreamQuery(request.raw.url ?? ''),
    token: isTold ? service.tokens.of(sessionId) : null,
    client: readCaller(request, options).client,
  });
  if (opened === undefined) throw expiredSession();
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

export const cancel: Handle<SessionRequest> = async (request, reply, options) => {
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

export const reset: Handle<SessionRequest> = async (request, reply, options) => {
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

/** Parses a body. @throws Problem `invalid_body` if it is empty or not a JSON object */
function demandBody(request: FastifyRequest): Body {
  const body = readBody(request);
  if (body !== undefined) return body;
  throw new Problem('invalid_body', { detail: 'The body is empty. Send a JSON object.' });
}

/** Checks that the session accepts messages, before the body is read. */
export async function checkSession(request: SessionRequest, options: HandlerOptions) {
  const record = await findSession(request, options);
  // A repeated request gets the earlier reply, even if the session has ended since.
  if (!hasIdempotencyKey(request, readCaller(request, options).owner)) refuseInactive(record);
}
