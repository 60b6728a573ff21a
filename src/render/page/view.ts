import { parseUrl } from '../../core/http/url.ts';
import type { BrowseResult, PostResult } from '../../model/results.ts';
import type { OwnPage, RenderContext } from '../context.ts';
import {
  createLinks,
  escapeHtml,
  type HtmlLinks,
  type HtmlView,
  openLink,
  type TagPair,
  toSafeUrl,
} from '../html/markup.ts';
import { toThread } from '../markdown/thread.ts';

export interface PageView extends HtmlView {
  /** URL of this server without a slash at the end. */
  readonly baseUrl: string;
  readonly full: boolean;
  /** Time of the fetch: ISO 8601, UTC. */
  readonly fetchedAt: string;
}

const columnWidth = 688; // pixels: the width of a page's text, as in `assets/post.css`

export function createPageView(
  result: PostResult | BrowseResult,
  context: RenderContext,
): PageView {
  return {
    links: createPageLinks(context, mastodonHostOf(result)),
    toPictureUrl: context.toPictureUrl ?? (() => null),
    baseUrl: context.baseUrl,
    full: result.full,
    fetchedAt: result.fetchedAt,
    pictureWidth: columnWidth,
    isStyled: true,
  };
}

/**
 * Returns the host of the Mastodon server of the requested account or author. Returns `null` for
 * other platforms, for data from another server, and if the host is not the domain of the handle.
 */
export function mastodonHostOf(result: PostResult | BrowseResult): string | null {
  const subject = result.kind === 'browse' ? result.profile : toThread(result.posts).main;
  if (result.source !== 'mastodon' || !subject || 'copied_from' in subject) return null;
  const account = 'author' in subject ? subject.author : subject;
  const hostname = parseUrl(account?.url ?? '')?.hostname ?? null;
  return account?.screen_name.endsWith(`@${hostname}`) === true ? hostname : null;
}

const maxLookups = 2000;

/**
 * Creates link renderers for one page. Links to posts, accounts and searches lead to this server;
 * the first link to each post or account gets an arrow to the original (docs/decisions/0059).
 * `mastodonHost`: Mastodon server of the result, or `null`.
 */
function createPageLinks({ toOwnPage }: RenderContext, mastodonHost: string | null): HtmlLinks {
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
