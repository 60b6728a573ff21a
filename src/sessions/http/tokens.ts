import { createHmac, timingSafeEqual } from 'node:crypto';

/** Gives and checks continuation tokens. They are derived from the session id, so none is stored. */
export interface ContinuationTokens {
  /** The token of a session: `svct_` and a keyed hash of 256 bits. */
  of(sessionId: string): string;
  /** Tells in constant time whether a text is the session's token. */
  isOf(token: string, sessionId: string): boolean;
}

/** Creates the tokens under the server's secret; another secret voids every token. */
export function createContinuationTokens(secret: Buffer): ContinuationTokens {
  const of = (sessionId: string) => `svct_${createMark(secret, 'token', sessionId)}`;
  return {
    of,
    isOf: (token, sessionId) => {
      const [given, right] = [Buffer.from(token), Buffer.from(of(sessionId))];
      return given.length === right.length && timingSafeEqual(given, right);
    },
  };
}

/** What a keyed hash is for: the same text has another hash for another purpose. */
type Purpose = 'token' | 'owner' | 'address' | 'network' | 'idempotency' | 'body' | 'operator';

/** Gives the keyed hash (HMAC-SHA-256) of a text for one purpose, as base64url. */
export function createMark(secret: Buffer, purpose: Purpose, text: string | Buffer): string {
  return createHmac('sha256', secret).update(`${purpose}\0`).update(text).digest('base64url');
}
