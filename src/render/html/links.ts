import { parseUrl } from '../../core/http/url.ts';
import { escapeHtml, escapeLine } from './escape.ts';

const linkable: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/** Gives a URL as the URL parser writes it; null where it is neither http, https nor mailto. */
export function toSafeUrl(url: string | null): string | null {
  const parsed = url === null ? null : parseUrl(url);
  return parsed !== null && linkable.has(parsed.protocol) ? parsed.href : null;
}

/** Gives the start tag of a link; null where the URL cannot be linked. */
export function openLink(url: string | null): string | null {
  const safe = toSafeUrl(url);
  return safe === null ? null : `<a href="${escapeHtml(safe)}" rel="nofollow noopener noreferrer">`;
}

/** Gives a link with plain text, which it escapes; only the text where the URL cannot be linked. */
export function link(text: string, url: string | null): string {
  const start = openLink(url);
  return start === null ? escapeLine(text) : `${start}${escapeLine(text)}</a>`;
}
