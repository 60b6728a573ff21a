import { hash } from 'node:crypto';
import type { Random } from '../../core/random.ts';

const prefix = 'perch_';
const secretBytes = 32;
const secretLength = 43;
const shape = new RegExp(`^${prefix}[A-Za-z0-9_-]{${secretLength}}$`);

/** The characters of a key. */
export const keyLength = prefix.length + secretLength;

/** Creates a bearer key: a fixed prefix and 32 random bytes as base64url. */
export function createKey(random: Random): string {
  return prefix + random.bytes(secretBytes).toString('base64url');
}

/** Gives what is stored of a key: the SHA-256 of the whole key, in hex. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/** Whether a text has the shape of a key. One that has not is unknown to every store. */
export function isKeyShaped(text: string): boolean {
  return shape.test(text);
}
