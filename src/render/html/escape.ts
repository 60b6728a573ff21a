import { parseUrl } from '../../core/http/url.ts';
import { toLine } from '../markdown/characters.ts';

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text without control characters for HTML and XHTML. Replaces Unicode noncharacters with U+FFFD. */
export function escapeHtml(text: string): string {
  return text
    .replace(/\p{Noncharacter_Code_Point}/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => references[character] ?? '');
}

/** Returns text as escaped element content on one line, without control characters. */
export const escapeLine = (text: string): string => escapeHtml(toLine(text));

const linkable: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/** Returns a URL in its normalized form; `null` if its scheme is neither http, https nor mailto. */
export function toSafeUrl(url: string | null): string | null {
  const parsed = url === null ? null : parseUrl(url);
  return parsed !== null && linkable.has(parsed.protocol) ? parsed.href : null;
}

/** Returns the start tag of a link; `null` if the URL cannot be linked. */
export function openLink(url: string | null): string | null {
  const safe = toSafeUrl(url);
  return safe === null ? null : `<a href="${escapeHtml(safe)}" rel="nofollow noopener noreferrer">`;
}

/** Returns a link with escaped text; only the escaped text if the URL cannot be linked. */
export function link(text: string, url: string | null): string {
  const start = openLink(url);
  return start === null ? escapeLine(text) : `${start}${escapeLine(text)}</a>`;
}
