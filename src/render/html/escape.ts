import { parseUrl } from '../../core/http/url.ts';
import { toLine } from '../markdown/characters.ts';

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML and XHTML. Replaces Unicode noncharacters with U+FFFD. Does not remove control characters. */
export function escapeHtml(text: string): string {
  return text
    .replace(/\p{Noncharacter_Code_Point}/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => references[character] ?? '');
}

/** Escapes text for HTML, on one line and without control characters. */
export const escapeLine = (text: string): string => escapeHtml(toLine(text));

const linkable: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/** Returns a URL in its normalized form; `null` if its scheme is neither http, https nor mailto. */
export function toSafeUrl(url: string | null): string | null {
  const parsed = url === null ? null : parseUrl(url);
  return parsed !== null && linkable.has(parsed.protocol) ? parsed.href : null;
}

/** Returns the start tag of an HTML link; `null` if the URL's scheme is neither http, https nor mailto. */
export function openLink(url: string | null): string | null {
  const safe = toSafeUrl(url);
  return safe === null ? null : `<a href="${escapeHtml(safe)}" rel="nofollow noopener noreferrer">`;
}

/** Returns an HTML link with escaped text; only the escaped text if the URL's scheme is not http, https or mailto. */
export function link(text: string, url: string | null): string {
  const start = openLink(url);
  return start === null ? escapeLine(text) : `${start}${escapeLine(text)}</a>`;
}
