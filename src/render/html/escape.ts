import { parseUrl } from '../../core/http/url.ts';
import { toLine } from '../markdown/characters.ts';

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Returns a text without control characters and half surrogates as the content of an element or a quoted attribute
 * (HTML and XHTML). Noncharacters, which XML refuses, become U+FFFD.
 */
export function escapeHtml(text: string): string {
  return text
    .replace(/\p{Noncharacter_Code_Point}/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => references[character] ?? '');
}

/** Returns a text on one line, without control characters, as the content of an element. */
export const escapeLine = (text: string): string => escapeHtml(toLine(text));

const linkable: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/** Returns a URL as the URL parser writes it; `null` if it is neither http, https nor mailto. */
export function toSafeUrl(url: string | null): string | null {
  const parsed = url === null ? null : parseUrl(url);
  return parsed !== null && linkable.has(parsed.protocol) ? parsed.href : null;
}

/** Returns the start tag of a link; `null` if the URL cannot be linked. */
export function openLink(url: string | null): string | null {
  const safe = toSafeUrl(url);
  return safe === null ? null : `<a href="${escapeHtml(safe)}" rel="nofollow noopener noreferrer">`;
}

/** Returns a link with plain text, which it escapes; only the text if the URL cannot be linked. */
export function link(text: string, url: string | null): string {
  const start = openLink(url);
  return start === null ? escapeLine(text) : `${start}${escapeLine(text)}</a>`;
}
