import { escapeLabel, escapeLine } from './escape.ts';

const linkable = /^(?:https?:\/\/|mailto:)[^\s]/i;
const entity = /&(?=#?[A-Za-z\d]{1,32};)/g;

const unprintable = /[\p{Cc}\p{Zs}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff<>\\`]/gu;

/** Returns a Markdown link destination; `null` unless http, https or mailto. */
export function toDestination(url: string): string | null {
  const trimmed = url.trim();
  if (!linkable.test(trimmed)) return null;
  return trimmed
    .replace(unprintable, percentEncode)
    .replace(/[()]/g, percentEncode)
    .replace(entity, '&amp;');
}

function percentEncode(character: string): string {
  const encoded = encodeURIComponent(character.replace(/\p{Cs}/u, '\ufffd'));
  if (encoded !== character) return encoded;
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Returns `<url>`; `null` if not http, https or mailto, or with an HTML entity. */
export function toAutolink(url: string): string | null {
  const trimmed = url.trim();
  if (!linkable.test(trimmed) || trimmed.search(entity) !== -1) return null;
  return `<${trimmed.replace(unprintable, percentEncode)}>`;
}

/** Returns a link with escaped text; only the text unless http, https or mailto. */
export function link(text: string, url: string | null): string {
  const destination = url === null ? null : toDestination(url);
  return destination === null ? escapeLine(text) : `[${escapeLabel(text)}](${destination})`;
}

/** Wraps Markdown in a link; returns it unchanged unless http, https or mailto. */
export function wrapLink(markdown: string, url: string): string {
  const destination = toDestination(url);
  return destination === null ? markdown : `[${markdown}](${destination})`;
}

/** Returns Markdown for a URL: an autolink if possible, else a link, else plain text. */
export const linkUrl = (url: string): string => toAutolink(url) ?? link(url, url);

/** Returns an image; only the escaped description unless http, https or mailto. */
export function image(alt: string, url: string): string {
  const shown = link(alt, url);
  return toDestination(url) === null ? shown : `!${shown}`;
}

/** Returns whether a link's visible text is its URL, with or without the scheme. */
export function showsUrl(visible: string, url: string): boolean {
  const bare = (text: string) => text.replace(/^(?:https?:\/\/|mailto:)/i, '').replace(/\/$/, '');
  return bare(visible) === bare(url.trim());
}

/** URL in plain text. The offsets count code points. */
export interface BareLink {
  readonly start: number;
  readonly end: number;
  readonly url: string;
}

// Letters of other scripts end a URL, because Japanese and Chinese text has no space after a URL.
const letter = String.raw`\d\p{Script=Latin}\p{Script=Cyrillic}`;
const urlInText = new RegExp(
  String.raw`(?<![A-Za-z\d])https?:\/\/[${letter}][${letter}\-._~:/?#\[\]@!$&'()*+,;=%]*`,
  'giu',
);

/** Finds the first `max` http(s) URLs in plain text, without punctuation at their ends. */
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

function trimUrl(url: string): string {
  const counts = Object.fromEntries([...'()[]'].map((one) => [one, url.split(one).length - 1]));
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
