import type { FastifyRequest } from 'fastify';
import type { Client } from '../../core/caller.ts';
import { Problem } from '../../core/problem.ts';
import { expiredSession, refuseOtherOwner, unknownSession } from '../messages.ts';
import type { SessionService } from '../service.ts';
import type { Once } from '../store/session-rows.ts';
import type { SessionRecord } from '../store/state.ts';
import { type Body, readString } from './requests.ts';
import { createMark, readOwner } from './tokens.ts';

export interface CallerRules {
  readonly requireBearer: boolean;
  readonly bindBearer: boolean;
  readonly token: 'required' | 'optional';
  /** Whether readers get the token in events without having shown it. */
  readonly streamToken: 'proven' | 'always';
}

export type CallSetting = Readonly<{ service: SessionService; rules: CallerRules }>;

/** @throws Problem `missing_bearer` in strict mode */
export function refuseWithoutBearer({ raw }: FastifyRequest, { service, rules }: CallSetting) {
  if (!rules.requireBearer || readOwner(raw, service.secret) !== null) return;
  throw new Problem('missing_bearer', {
    detail: 'The header `Authorization` has no bearer token; this server demands one, whichever.',
  });
}

export interface OneSession {
  readonly Params: { readonly sessionId: string };
}

export type SessionRequest = FastifyRequest<OneSession>;

/** Returns the session of a request. @throws Problem `session_not_found`, `session_expired`, `session_forbidden` */
export async function findSession(request: SessionRequest, setting: CallSetting) {
  const found = await setting.service.store.find(request.params.sessionId);
  if (found.kind === 'unknown') throw unknownSession();
  request.knownSession = request.params.sessionId;
  if (found.kind === 'purged') throw expiredSession();
  refuseStranger(found.record, request, setting);
  return found.record;
}

/** @throws Problem `session_forbidden` if sessions are bound to bearers, and this one to another */
export function refuseStranger(record: SessionRecord, { raw }: FastifyRequest, call: CallSetting) {
  if (call.rules.bindBearer) refuseOtherOwner(record, readOwner(raw, call.service.secret));
}

/** Returns the token of a request, if any. @throws Problem `conflicting_continuation_tokens`, `invalid_body` */
export function readToken({ headers }: FastifyRequest, body?: Body): string | undefined {
  const header = String(headers['x-continuation-token'] ?? '') || undefined;
  const member = readString(body, 'continuationToken') || undefined;
  if (header === undefined || member === undefined || header === member) return header ?? member;
  throw new Problem('conflicting_continuation_tokens', {
    detail: 'The header `X-Continuation-Token` and the member `continuationToken` differ.',
  });
}

/** @throws Problem `invalid_continuation_token` for another token than the session's */
export function refuseWrongToken(
  token: string | undefined,
  { params }: SessionRequest,
  { service }: CallSetting,
): void {
  if (token === undefined || service.tokens.isOf(token, params.sessionId)) return;
  throw new Problem('invalid_continuation_token', {
    detail: 'The continuation token is not the one of this session.',
  });
}

/** @throws Problem `missing_continuation_token`, and as `readToken` and `refuseWrongToken` do */
export function demandToken(request: SessionRequest, body: Body | undefined, setting: CallSetting) {
  const token = readToken(request, body);
  if (token === undefined && setting.rules.token === 'required') {
    throw new Problem('missing_continuation_token', {
      detail: 'The header `X-Continuation-Token` is missing or empty.',
    });
  }
  refuseWrongToken(token, request, setting);
}

/** The bearer and the address of a request, by their keyed hashes. */
export type Caller = Readonly<{ owner: string | null; client: Client }>;

export function isOnce({ headers }: FastifyRequest, owner: string | null): boolean {
  const key = headers['idempotency-key'];
  // All anonymous callers are one: to repeat a reply would hand its token to another.
  return owner !== null && typeof key === 'string' && /^.{16,255}$/s.test(key);
}

/** Returns the marks of a request that is to be carried out once; `null` for any other. */
export function readOnce(
  request: FastifyRequest,
  { owner, client }: Caller,
  { secret, clock }: SessionService,
): Once | null {
  if (!isOnce(request, owner)) return null;
  const key = request.headers['idempotency-key'];
  const path = (request.raw.url ?? '').split('?', 1)[0] ?? '';
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  return {
    key: createMark(secret, 'idempotency', JSON.stringify([key, owner, client.address])),
    fingerprint: createMark(secret, 'body', Buffer.concat([Buffer.from(`${path}\0`), bytes])),
    nowMs: clock.now(),
  };
}
