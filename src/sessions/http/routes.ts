import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../core/problem.ts';
import { beginStream } from '../../web/reply.ts';
import { expiredSession, goOnWith, startWith } from '../messages.ts';
import type { Receipt } from '../store/session-rows.ts';
import { endSession, isLive, refuseInactive, type SessionRecord } from '../store/state.ts';
import {
  type Caller,
  type CallSetting,
  demandToken,
  findSession,
  isOnce,
  readOnce,
  readToken,
  refuseStranger,
  refuseWrongToken,
  type SessionRequest,
} from './calls.ts';
import { streamMediaType } from './endpoints.ts';
import { sendBody, toSessionHeaders } from './reply.ts';
import { type Body, parseBody, readMessage, readStreamQuery, readString } from './requests.ts';
import { readOwner } from './tokens.ts';

export interface HandlerSetting extends CallSetting {
  /** Where the routes are: `/svc/v1`. */
  readonly base: string;
  /** Gives the name of a request's client address. */
  readonly clientOf: (request: FastifyRequest) => string;
}

export interface OneSession {
  readonly Params: { readonly sessionId: string };
}

export function createHandlers(setting: HandlerSetting) {
  const { service } = setting;
  return {
    health: async (_request: FastifyRequest, reply: FastifyReply) => {
      service.refuseUnlessReady();
      await service.store.countLive(); // the store answers
      return sendBody(reply, { ok: true, status: 'ready', workflowId: 'perch-session-1' });
    },
    start: createStart(setting),
    followUp: createFollowUp(setting),
    stream: createStream(setting),
    cancel: createCancel(setting),
    reset: createReset(setting),
  };
}

function createStart(setting: HandlerSetting) {
  const { service, base } = setting;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const body = demandBody(request);
    const { text } = readMessage(body, service.limits.messageBytes);
    const caller = readCaller(request, setting);
    const once = readOnce(request, caller, service);
    let receipt = await service.store.recall(once);
    if (receipt === undefined) {
      service.rates.spendStart(caller.owner, caller.client);
      receipt = await startWith({ text, ...caller, once }, service);
    }
    request.knownSession = receipt.sessionId;
    reply.code(202).header('location', `${base}/session/${receipt.sessionId}/stream`);
    return sendBody(reply, {
      sessionId: receipt.sessionId,
      continuationToken: service.tokens.of(receipt.sessionId),
      ok: true,
      status: 'accepted',
      deliveryId: receipt.deliveryId,
    });
  };
}

function createFollowUp(setting: HandlerSetting) {
  const { service } = setting;
  return async (request: SessionRequest, reply: FastifyReply) => {
    const { sessionId } = request.params;
    const receipt = await followUpOnce(request, setting);
    return sendBody(reply.code(202), {
      ok: true,
      sessionId,
      continuationToken: service.tokens.of(sessionId),
      status: 'accepted',
      deliveryId: receipt.deliveryId,
      queued: receipt.queued,
    });
  };
}

async function followUpOnce(request: SessionRequest, setting: HandlerSetting): Promise<Receipt> {
  const { service } = setting;
  const { sessionId } = request.params;
  const caller = readCaller(request, setting);
  const once = readOnce(request, caller, service);
  const known = await service.store.recall(once);
  // `createSessionCheck` leaves this to be refused here.
  if (once !== null && known === undefined) refuseInactive(await findSession(request, setting));
  const body = demandBody(request);
  const message = readMessage(body, service.limits.messageBytes);
  demandToken(request, body, setting);
  if (known !== undefined) return known;
  service.rates.spendMessage(caller.client);
  const check = message.isRefusedWhileRunning ? refuseRunning : undefined;
  return goOnWith({ sessionId, text: message.text, once, check }, service);
}

/** @throws Problem `session_not_active`, `turn_in_progress` */
function refuseRunning(record: SessionRecord): void {
  refuseInactive(record);
  if (record.pending.length === 0) return;
  throw new Problem('turn_in_progress', {
    detail: 'A turn is queued or running, and `turnPolicy` is `reject`.',
  });
}

function createStream(setting: HandlerSetting) {
  const { service, rules } = setting;
  return async (request: SessionRequest, reply: FastifyReply) => {
    const { sessionId } = request.params;
    const shown = readToken(request);
    refuseWrongToken(shown, request, setting);
    const isTold = shown !== undefined || rules.streamToken === 'always';
    const stream = await service.streams.openStream({
      sessionId,
      ...readStreamQuery(request.raw.url ?? ''),
      token: isTold ? service.tokens.of(sessionId) : null,
      client: readCaller(request, setting).client,
    });
    if (stream === undefined) throw expiredSession();
    const response = beginStream(reply, {
      ...toSessionHeaders(request),
      ...toStreamHeaders(stream.record.events - 1),
    });
    await stream.sendTo(response);
  };
}

/** A version that every client accepts. */
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

function createCancel(setting: HandlerSetting) {
  const { service } = setting;
  return async (request: SessionRequest, reply: FastifyReply) => {
    const { sessionId } = request.params;
    const body = readBody(request);
    const turnId = readString(body, 'turnId') ?? null;
    const token = readToken(request, body);
    const found = await service.store.find(sessionId);
    if (found.kind !== 'unknown') request.knownSession = sessionId;
    if (found.kind === 'known') {
      refuseStranger(found.record, request, setting);
      if (isLive(found.record.state)) {
        refuseWrongToken(token, request, setting);
        await service.turns.cancel(sessionId, turnId);
        return sendBody(reply.code(202), { ok: true, sessionId, status: 'accepted' });
      }
    }
    return sendBody(reply, { ok: true, status: 'no_active_turn' });
  };
}

function createReset(setting: HandlerSetting) {
  const { service } = setting;
  return async (request: SessionRequest, reply: FastifyReply) => {
    const { sessionId } = request.params;
    const record = await findSession(request, setting);
    const body = readBody(request);
    if (!isLive(record.state)) return sendBody(reply, { ok: true, status: 'no_active_session' });
    demandToken(request, body, setting);
    const ended = await service.store.change(sessionId, (now) =>
      isLive(now.state) ? endSession(now, 'reset', service.clock.now()) : null,
    );
    if (ended === undefined) return sendBody(reply, { ok: true, status: 'no_active_session' });
    return sendBody(reply, { ok: true, status: 'reset', previousSessionId: sessionId });
  };
}

function readCaller(request: FastifyRequest, { service, clientOf }: HandlerSetting): Caller {
  const client = service.toClient(clientOf(request));
  return { owner: readOwner(request.raw, service.secret), client };
}

function readBody({ body }: FastifyRequest): Body | undefined {
  return Buffer.isBuffer(body) ? parseBody(body) : undefined;
}

/** @throws Problem `invalid_body` */
function demandBody(request: FastifyRequest): Body {
  const body = readBody(request);
  if (body !== undefined) return body;
  throw new Problem('invalid_body', { detail: 'The body is empty; it takes a JSON object.' });
}

/** Creates the check of a session before the body of a follow-up is read, so that its state is judged first. */
export function createSessionCheck(setting: HandlerSetting) {
  return async (request: SessionRequest): Promise<void> => {
    const record = await findSession(request, setting);
    // What was accepted before is answered again, whatever became of the session since.
    if (!isOnce(request, readCaller(request, setting).owner)) refuseInactive(record);
  };
}

/** Creates the check for the stream, which an ended session has as well. */
export function createKnownCheck(setting: HandlerSetting) {
  return async (request: SessionRequest): Promise<void> => {
    await findSession(request, setting);
  };
}
