import { randomBytes } from 'node:crypto';

/** Source of random numbers for the whole server, replaceable in tests. */
export interface Random {
  /** Returns a random number from 0 (inclusive) to 1 (exclusive). */
  fraction(): number;
  /** Returns cryptographically secure random bytes. */
  bytes(count: number): Buffer;
}

export const systemRandom: Random = {
  fraction: () => Math.random(),
  bytes: (count) => randomBytes(count),
};
