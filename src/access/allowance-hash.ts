/** An account's name in 64 bits, as two signed numbers of 32. */
export interface AccountId {
  readonly hi: number;
  readonly lo: number;
}

/** The bytes of a seed. */
export const seedBytes = 8;

const finalRounds = 3;

/**
 * Creates the hash that names become ids by: HalfSipHash with one round for each word and three at the end, 64 bits
 * out. It has a secret, so nobody can choose names (an IPv6 network has many) that crowd the table or share another's
 * account.
 *
 * @param seed Eight secret bytes.
 */
export function createAccountHash(seed: Buffer): (name: string) => AccountId {
  const low = seed.readInt32LE(0);
  const high = seed.readInt32LE(4);
  return (name) => hash(name, low, high);
}

function hash(name: string, low: number, high: number): AccountId {
  const words = (name.length >>> 1) + 1;
  let v0 = low;
  let v1 = high ^ 0xee;
  let v2 = low ^ 0x6c796765;
  let v3 = high ^ 0x74656462;
  let hi = 0;
  // The words have steps below zero; the rest are the rounds that finish each half of the result.
  for (let step = -words; step < 2 * finalRounds; step++) {
    if (step === 0) v2 ^= 0xee;
    if (step === finalRounds) {
      hi = v1 ^ v3;
      v1 ^= 0xdd;
    }
    const word = step < 0 ? wordAt(name, step + words) : 0;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return { hi, lo: v1 ^ v3 };
}

/** Gives two UTF-16 units as one word; the last word has the length and what is left of the name. */
function wordAt(name: string, word: number): number {
  const at = word * 2;
  if (at + 1 < name.length) return name.charCodeAt(at) | (name.charCodeAt(at + 1) << 16);
  return (at < name.length ? name.charCodeAt(at) : 0) | (name.length << 16);
}
