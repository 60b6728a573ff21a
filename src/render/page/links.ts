import type { OwnPage, RenderContext } from '../context.ts';
import { escapeHtml, openLink, toSafeUrl } from '../html/escape.ts';
import type { TagPair } from '../html/text.ts';
import { createLinks, type HtmlLinks } from '../html/view.ts';

const maxLookups = 2000;

/**
 * Creates link renderers for one page. Links to posts, accounts and searches lead to this server;
 * the first link to each post or account gets an arrow to the original (docs/decisions/0059).
 * `mastodonHost`: Mastodon server of the result, or `null`.
 */
export function createPageLinks(
  { toOwnPage }: RenderContext,
  mastodonHost: string | null,
): HtmlLinks {
  const found = new Map<string, OwnPage | null>();
  const linked = new Set<string>();
  const find = (url: string): OwnPage | null => {
    const known = found.get(url);
    if (known !== undefined) return known;
    if (found.size >= maxLookups) return null;
    const page = toOwnPage?.(url, mastodonHost) ?? null;
    found.set(url, page);
    return page;
  };
  const toTags = (url: string | null): TagPair => {
    const safe = toSafeUrl(url);
    if (safe === null) return ['', ''];
    const page = find(safe);
    if (page === null) return [openLink(safe) ?? '', '</a>'];
    const open = `<a href="${escapeHtml(page.url)}">`;
    if (!page.hasOriginal || linked.has(page.url)) return [open, '</a>'];
    linked.add(page.url);
    return [open, `</a>${renderOriginal(safe)}`];
  };
  return createLinks(toTags);
}

function renderOriginal(url: string): string {
  const label = escapeHtml(`Original: ${url.replace(/^https?:\/\//, '')}`);
  const open = openLink(url)?.replace('<a ', `<a class="original" aria-label="${label}" `);
  return open === undefined ? '' : `${open}\u2197\ufe0e</a>`;
}
