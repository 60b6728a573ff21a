import { hash } from 'node:crypto';
import type { Random } from '../../lib/random.ts';

const prefix = 'perch_';
const secretBytes = 32;
const secretLength = 43;
const shape = new RegExp(`^${prefix}[A-Za-z0-9_-]{${secretLength}}$`);

export const keyLength = prefix.length + secretLength;

/** Creates an API key: a fixed prefix and 32 random bytes in base64url. */
export function createKey(random: Random): string {
  return prefix + random.bytes(secretBytes).toString('base64url');
}

/** Returns the SHA-256 hash of an API key in hex. The store of API keys contains only this hash. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/** Returns whether a text has the format of a key. Other texts need no lookup in the key store. */
export function isKeyShaped(text: string): boolean {
  return shape.test(text);
}
