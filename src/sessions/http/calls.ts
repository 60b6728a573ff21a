import type { FastifyRequest } from 'fastify';
import type { Client } from '../../lib/caller.ts';
import { Problem } from '../../lib/problem.ts';
import { keyedHash, readOwner } from '../ids.ts';
import { demandKnown, refuseOtherOwner } from '../messages.ts';
import type { SessionService } from '../service.ts';
import type { Found, KeyedRequest } from '../store/session-store.ts';
import type { SessionRecord } from '../store/state.ts';
import { type Body, readString } from './requests.ts';

export interface CallerRules {
  readonly requireBearer: boolean;
  readonly bindBearer: boolean;
  readonly token: 'required' | 'optional';
  /** Condition for the token in event streams: `always`, or if the request had it (`proven`). */
  readonly streamToken: 'proven' | 'always';
}

export type CallOptions = Readonly<{ service: SessionService; rules: CallerRules }>;

/** Checks for a bearer token if `requireBearer` is set. @throws Problem `missing_bearer` */
export function refuseWithoutBearer({ raw }: FastifyRequest, { service, rules }: CallOptions) {
  if (!rules.requireBearer || readOwner(raw, service.secret) !== null) return;
  throw new Problem('missing_bearer', {
    detail:
      'The header `Authorization` has no bearer token. This server requires one, of any value.',
  });
}

export type SessionRequest = FastifyRequest<{ Params: { readonly sessionId: string } }>;

/**
 * Returns the session that was found for a request.
 * @throws Problem `session_not_found`, `session_expired`, `session_forbidden`
 */
export function demandSession(found: Found, request: SessionRequest, options: CallOptions) {
  if (found.kind !== 'unknown') request.knownSession = request.params.sessionId;
  const record = demandKnown(found);
  refuseStranger(record, request, options);
  return record;
}

export const findSession = async (request: SessionRequest, options: CallOptions) =>
  demandSession(await options.service.store.find(request.params.sessionId), request, options);

/** Checks the bearer token if `bindBearer` is set. @throws Problem `session_forbidden` */
export function refuseStranger(
  record: SessionRecord,
  { raw }: FastifyRequest,
  options: CallOptions,
) {
  if (options.rules.bindBearer) refuseOtherOwner(record, readOwner(raw, options.service.secret));
}

/** Returns the token, if any. @throws Problem `conflicting_continuation_tokens`, `invalid_body` */
export function readToken({ headers }: FastifyRequest, body?: Body): string | undefined {
  const header = String(headers['x-continuation-token'] ?? '') || undefined;
  const member = readString(body, 'continuationToken') || undefined;
  if (header === undefined || member === undefined || header === member) return header ?? member;
  throw new Problem('conflicting_continuation_tokens', {
    detail: 'The header `X-Continuation-Token` and the member `continuationToken` differ.',
  });
}

/** Checks a token, if present. @throws Problem `invalid_continuation_token` */
export function refuseWrongToken(
  token: string | undefined,
  { params }: SessionRequest,
  { service }: CallOptions,
): void {
  if (token === undefined || service.tokens.isOf(token, params.sessionId)) return;
  throw new Problem('invalid_continuation_token', {
    detail: 'The continuation token does not belong to this session.',
  });
}

/**
 * Checks the token of a request.
 * @throws Problem `missing_continuation_token` if `rules.token` is `required` and there is none;
 *   `invalid_continuation_token` if it belongs to another session; the errors of `readToken`
 */
export function demandToken(request: SessionRequest, body: Body | undefined, options: CallOptions) {
  const token = readToken(request, body);
  if (token === undefined && options.rules.token === 'required') {
    throw new Problem('missing_continuation_token', {
      detail: 'The header `X-Continuation-Token` is missing or empty.',
    });
  }
  refuseWrongToken(token, request, options);
}

/** Keyed hashes of the bearer token (`owner`; `null` without) and of address and network. */
export type Caller = Readonly<{ owner: string | null; client: Client }>;

export function hasIdempotencyKey({ headers }: FastifyRequest, owner: string | null): boolean {
  const key = headers['idempotency-key'];
  // Anonymous callers cannot be distinguished, so a repeated reply could reveal a token to another
  // caller.
  return owner !== null && typeof key === 'string' && /^.{16,255}$/s.test(key);
}

/** Returns hashes of key and caller, and of path and body; `null` without a token or valid key. */
export function readIdempotency(
  request: FastifyRequest,
  { owner, client }: Caller,
  { secret, clock }: SessionService,
): KeyedRequest | null {
  if (!hasIdempotencyKey(request, owner)) return null;
  const key = request.headers['idempotency-key'];
  const path = (request.raw.url ?? '').split('?', 1)[0] ?? '';
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  return {
    key: keyedHash(secret, 'idempotency', JSON.stringify([key, owner, client.address])),
    fingerprint: keyedHash(secret, 'body', Buffer.concat([Buffer.from(`${path}\0`), bytes])),
    nowMs: clock.now(),
  };
}
