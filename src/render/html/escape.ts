import { parseUrl } from '../../core/http/url.ts';
import { toLine } from '../markdown/characters.ts';

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML and XHTML. Noncharacters become U+FFFD; control characters stay. */
export function escapeHtml(text: string): string {
  return text
    .replace(/\p{Noncharacter_Code_Point}/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => references[character] ?? '');
}

/** Escapes text on one line, without control characters. */
export const escapeLine = (text: string): string => escapeHtml(toLine(text));

const linkable: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/** Returns the normalized URL; `null` unless http, https or mailto. */
export function toSafeUrl(url: string | null): string | null {
  const parsed = url === null ? null : parseUrl(url);
  return parsed !== null && linkable.has(parsed.protocol) ? parsed.href : null;
}

/** Returns the start tag of a link; `null` unless http, https or mailto. */
export function openLink(url: string | null): string | null {
  const safe = toSafeUrl(url);
  return safe === null ? null : `<a href="${escapeHtml(safe)}" rel="nofollow noopener noreferrer">`;
}
