import { randomBytes } from 'node:crypto';

/** The only source of chance. */
export interface Random {
  /** A number from 0 (included) to 1 (excluded). */
  fraction(): number;
  /** Secure random bytes. */
  bytes(count: number): Buffer;
}

/** The chance of the machine. */
export const systemRandom: Random = {
  fraction: () => Math.random(),
  bytes: (count) => randomBytes(count),
};
