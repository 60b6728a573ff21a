import { createHmac, timingSafeEqual } from 'node:crypto';
import { type AuthorizationSource, readBearer } from '../../access/keys/authorization.ts';

/** Creates the continuation tokens, derived from session ids under the server's secret: another secret voids them. */
export function createContinuationTokens(secret: Buffer) {
  const of = (sessionId: string) => `svct_${createMark(secret, 'token', sessionId)}`;
  return {
    of,
    /** Returns in constant time whether a text is the session's token. */
    isOf: (token: string, sessionId: string): boolean => {
      const [given, right] = [Buffer.from(token), Buffer.from(of(sessionId))];
      return given.length === right.length && timingSafeEqual(given, right);
    },
  };
}

type Purpose = 'token' | 'owner' | 'address' | 'network' | 'idempotency' | 'body' | 'operator';

/** Returns the keyed hash (HMAC-SHA-256) of a text for one purpose, as base64url. */
export function createMark(secret: Buffer, purpose: Purpose, text: string | Buffer): string {
  return createHmac('sha256', secret).update(`${purpose}\0`).update(text).digest('base64url');
}

/** Returns the keyed hash of a request's bearer; `null` without one, with an empty one, and for other schemes. */
export function readOwner(request: AuthorizationSource, secret: Buffer): string | null {
  const bearer = readBearer(request);
  return bearer === null || bearer === '' ? null : createMark(secret, 'owner', bearer);
}
