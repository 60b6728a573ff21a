/** Matches API keys (whole or in part), session ids and continuation tokens, even if they are percent-encoded. */
const key = /(perch_|(?<![a-z0-9])(?:ses|svct)_)[\w%-]{16,}/gi;

const layers = 3; // maximum number of layers of percent-encoding that are decoded

/** Decodes a percent-encoded byte as one character. This is correct for secrets, which are ASCII. */
const toCharacter = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));

/** Masks API keys, session ids and continuation tokens. If one of them is percent-encoded, masks the whole text. */
export function redactKeys(text: string): string {
  const redacted = text.replaceAll(key, (_, prefix: string) => `${prefix.toLowerCase()}…`);
  let decoded = redacted;
  for (let layer = 0; layer < layers && decoded.includes('%'); layer += 1) {
    decoded = decoded.replaceAll(/%([0-9a-f]{2})/gi, toCharacter);
    if (decoded.search(key) !== -1) return 'perch_…';
  }
  return redacted;
}
