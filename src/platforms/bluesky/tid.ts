/** Alphabet of TIDs, which are record keys that encode a time. */
const letters = '234567abcdefghijklmnopqrstuvwxyz';

const firstMs = Date.UTC(2022, 10);

/**
 * Returns the Unix milliseconds in a record key; `null` if it is not a TID
 * (https://atproto.com/specs/tid), or if the time is before November 2022 or after `latestMs`. The
 * author's app chooses the key.
 */
export function readTidMs(key: string, latestMs: number): number | null {
  if (!/^[2-7a-j][2-7a-z]{12}$/.test(key)) return null;
  let value = 0n;
  for (const letter of key) value = value * 32n + BigInt(letters.indexOf(letter));
  const ms = Number(value >> 10n) / 1000;
  return ms >= firstMs && ms <= latestMs ? ms : null;
}
