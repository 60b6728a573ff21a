import { createHmac, timingSafeEqual } from 'node:crypto';
import { type AuthorizationSource, readBearer } from '../access/keys/authorization.ts';

/** Creates and checks continuation tokens, which are keyed hashes of session ids. */
export function createContinuationTokens(secret: Buffer) {
  const of = (sessionId: string) => `svct_${keyedHash(secret, 'token', sessionId)}`;
  return {
    of,
    /** Returns whether a continuation token belongs to a session. Compares in constant time. */
    isOf: (token: string, sessionId: string): boolean => {
      const [given, right] = [Buffer.from(token), Buffer.from(of(sessionId))];
      return given.length === right.length && timingSafeEqual(given, right);
    },
  };
}

type Purpose = 'token' | 'owner' | 'address' | 'network' | 'idempotency' | 'body' | 'operator';

/** Returns an HMAC-SHA-256 in base64url, which is different for each purpose. */
export const keyedHash = (secret: Buffer, purpose: Purpose, text: string | Buffer): string =>
  createHmac('sha256', secret).update(`${purpose}\0`).update(text).digest('base64url');

/** Returns the keyed hash of a request's bearer token; `null` if the token is missing or empty. */
export function readOwner(request: AuthorizationSource, secret: Buffer): string | null {
  const bearer = readBearer(request);
  return bearer === null || bearer === '' ? null : keyedHash(secret, 'owner', bearer);
}
