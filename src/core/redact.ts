/** A bearer key, or a part of one, also percent-encoded; the id or the continuation token of a session. */
const key = /(perch_|(?<![a-z0-9])(?:ses|svct)_)[\w%-]{16,}/gi;

/** Maximum number of layers of percent-encoding that are decoded. */
const layers = 3;

/** Keys are ASCII, so bytes do for characters. */
const toCharacter = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));

/** Returns a text without keys, ids and tokens of sessions. Of one with a percent-encoded key nothing is left. */
export function redactKeys(text: string): string {
  const told = text.replaceAll(key, (_, prefix: string) => `${prefix.toLowerCase()}…`);
  let decoded = told;
  for (let layer = 0; layer < layers && decoded.includes('%'); layer += 1) {
    decoded = decoded.replaceAll(/%([0-9a-f]{2})/gi, toCharacter);
    if (decoded.search(key) !== -1) return 'perch_…';
  }
  return told;
}
