import { createHmac, timingSafeEqual } from 'node:crypto';
import { type AuthorizationSource, readBearer } from '../access/keys/authorization.ts';
import type { Clock } from '../lib/clock.ts';
import type { Random } from '../lib/random.ts';

export const isSessionId = (text: string): boolean => /^ses_[0-9A-HJKMNP-TV-Z]{26}$/.test(text);

/** Creates ids that consist of a prefix and a ULID. */
export function createSessionIds(clock: Clock, random: Random) {
  const next = createSequence(clock, random);
  return {
    /** Returns a session id with 80 random bits. Anyone who knows the id can read the session. */
    session: () => `ses_${encode(clock.now(), 10)}${encode(toNumber(random.bytes(10)), 16)}`,
    /** Returns an id for a message. The id sorts after all earlier ids of this process. */
    delivery: () => `dlv_${next()}`,
    /** Returns an id for an event. The id sorts after all earlier ids of this process. */
    event: () => `evt_${next()}`,
  };
}

function createSequence(clock: Clock, random: Random): () => string {
  let atMs = -1;
  let start = '';
  let number = 0;
  return () => {
    const now = clock.now();
    number += 1;
    if (now > atMs || number >= numbersPerStart) {
      atMs = Math.max(now, number >= numbersPerStart ? atMs + 1 : now);
      start = `${encode(atMs, 10)}${encode(toNumber(random.bytes(6)), 10).slice(-9)}`;
      number = 0;
    }
    return `${start}${encode(number, 7)}`;
  };
}

const numbersPerStart = 32 ** 7;
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

function encode(value: number | bigint, length: number): string {
  let rest = BigInt(value);
  let text = '';
  for (let at = 0; at < length; at += 1) {
    text = `${alphabet[Number(rest & 31n)]}${text}`;
    rest >>= 5n;
  }
  return text;
}

const toNumber = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);

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
