/**
 * A bearer key, or what is left of one, with any part of its secret percent-encoded; and what lets
 * others into a session: its id and its continuation token.
 */
const key = /(perch_|(?<![a-z0-9])(?:ses|svct)_)[\w%-]{16,}/gi;

/** How often percent-encoding is looked through; nobody encodes a key more often by accident. */
const layers = 3;

/**
 * Gives a text without the bearer keys and the ids and tokens of sessions in it, so that it can be shown and logged. Where one hides in
 * percent-encoding, nothing of the text is left but a sign that there was one.
 */
export function redactKeys(text: string): string {
  const told = text.replaceAll(key, (_, prefix: string) => `${prefix.toLowerCase()}…`);
  let decoded = told;
  for (let layer = 0; layer < layers && decoded.includes('%'); layer += 1) {
    decoded = decodePercent(decoded);
    if (decoded.search(key) !== -1) return 'perch_…';
  }
  return told;
}

/** Whatever is no percent-encoding stays as it is; keys are ASCII, so bytes do for characters. */
function decodePercent(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
