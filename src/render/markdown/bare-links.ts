/** A URL that stands in a text; offsets count its characters. */
export interface BareLink {
  readonly start: number;
  readonly end: number;
  readonly url: string;
}

// Letters of other scripts end a URL: Japanese and Chinese set no space between it and the text.
const letter = String.raw`\d\p{Script=Latin}\p{Script=Cyrillic}`;
const urlInText = new RegExp(
  String.raw`(?<![A-Za-z\d])https?:\/\/[${letter}][${letter}\-._~:/?#\[\]@!$&'()*+,;=%]*`,
  'giu',
);

/** Finds the first `max` bare http and https URLs in a text, without punctuation at their end. */
export function findBareLinks(characters: readonly string[], max: number): BareLink[] {
  const text = characters.join('');
  if (!text.includes('://')) return [];
  const found: BareLink[] = [];
  let [unit, start] = [0, 0];
  for (const match of text.matchAll(urlInText)) {
    if (found.length >= max) break;
    for (; unit < match.index; start += 1) unit += characters[start]?.length ?? 1;
    const url = trimUrl(match[0]);
    found.push({ start, end: start + [...url].length, url });
  }
  return found;
}

const closers: Readonly<Record<string, string>> = { ')': '(', ']': '[' };

/** Drops punctuation at the end, and closing brackets that the URL does not open. */
function trimUrl(url: string): string {
  const counts = countBrackets(url);
  let end = url.length;
  for (; end > 0; end -= 1) {
    const last = url.charAt(end - 1);
    const opener = closers[last];
    const isExcess = opener !== undefined && (counts[last] ?? 0) > (counts[opener] ?? 0);
    if (!isExcess && !/[?!.,:;*_~'([]/.test(last)) break;
    counts[last] = (counts[last] ?? 0) - 1;
  }
  return url.slice(0, end);
}

function countBrackets(url: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const bracket of url.match(/[()[\]]/g) ?? []) {
    counts[bracket] = (counts[bracket] ?? 0) + 1;
  }
  return counts;
}
