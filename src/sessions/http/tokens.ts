import { createHmac, timingSafeEqual } from 'node:crypto';
import { type AuthorizationSource, readBearer } from '../../access/keys/authorization.ts';

/** Creates continuation tokens, derived from session ids and the server's secret. Changing the secret invalidates them. */
export function createContinuationTokens(secret: Buffer) {
  const of = (sessionId: string) => `svct_${keyedHash(secret, 'token', sessionId)}`;
  return {
    of,
    /** Compares a token with the session's token in constant time. */
    isOf: (token: string, sessionId: string): boolean => {
      const [given, right] = [Buffer.from(token), Buffer.from(of(sessionId))];
      return given.length === right.length && timingSafeEqual(given, right);
    },
  };
}

type Purpose = 'token' | 'owner' | 'address' | 'network' | 'idempotency' | 'body' | 'operator';

/** Returns the keyed hash (HMAC-SHA-256) of a text for one purpose, as base64url. */
export const keyedHash = (secret: Buffer, purpose: Purpose, text: string | Buffer): string =>
  createHmac('sha256', secret).update(`${purpose}\0`).update(text).digest('base64url');

/** Returns the keyed hash of a request's bearer token; `null` if the request has no bearer token or an empty one. */
export function readOwner(request: AuthorizationSource, secret: Buffer): string | null {
  const bearer = readBearer(request);
  return bearer === null || bearer === '' ? null : keyedHash(secret, 'owner', bearer);
}
