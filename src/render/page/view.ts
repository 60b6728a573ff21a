import { parseUrl } from '../../lib/http/url.ts';
import { parseHandle } from '../../model/reference.ts';
import type { ListResult, ListSubject, PostResult } from '../../model/results.ts';
import type { OwnPage, RenderContext } from '../context.ts';
import {
  createLinks,
  escapeHtml,
  escapeLine,
  type HtmlLinks,
  type HtmlView,
  joinParts,
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

export function createPageView(result: PostResult | ListResult, context: RenderContext): PageView {
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

const fediverseSources: ReadonlySet<string> = new Set(['mastodon', 'activitypub']);

/**
 * Returns the host of the fediverse server of the requested account or author. Returns `null` for
 * other platforms, for data from another server, and if the host is not the domain of the handle.
 */
export function mastodonHostOf(result: PostResult | ListResult): string | null {
  const subject = result.kind === 'browse' ? result.profile : toThread(result.posts).main;
  if (!fediverseSources.has(result.source) || !subject || 'copied_from' in subject) return null;
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

const endsOfLists = { posts: '', followers: '/followers', following: '/following' } as const;

export const toListUrl = (
  handle: string,
  list: keyof typeof endsOfLists,
  { baseUrl }: Pick<PageView, 'baseUrl'>,
): string => `${baseUrl}/api/v1/profiles/${encodeURIComponent(handle)}${endsOfLists[list]}`;

type Tab = readonly [name: string, url: string, isCurrent: boolean];

/** Renders links to the account's other lists; empty if the list is not about one account. */
export function renderTabs(result: ListResult, view: PageView): string {
  const tabs = listTabs(result, view).map(([name, url, isCurrent]) => {
    const [open, close] = view.links.toTags(url);
    const current = isCurrent ? ' aria-current="page"' : '';
    return `<li>${open.replace('<a ', `<a${current} `)}${name}${close}</li>`;
  });
  if (tabs.length === 0) return '';
  return `<nav class="tabs" aria-label="Lists of this account"><ul>${tabs.join('')}</ul></nav>`;
}

function listTabs(result: ListResult, view: PageView): readonly Tab[] {
  const { subject, urls } = result;
  switch (subject.resource) {
    case 'profile':
      return listProfileTabs(result, view);
    case 'followers':
    case 'following': {
      const { handle, resource } = subject;
      return [
        ['Posts', toListUrl(handle, 'posts', view), false],
        ['Followers', toListUrl(handle, 'followers', view), resource === 'followers'],
        ['Following', toListUrl(handle, 'following', view), resource === 'following'],
      ];
    }
    case 'search': {
      const handle = findSearched(subject, result);
      if (handle === null) return [];
      const tabs = toPostTabs(toListUrl(handle, 'posts', view), null);
      return [...tabs, [searchTab, urls.first, true]];
    }
    case 'replies':
      return [];
  }
}

function listProfileTabs(result: ListResult, view: PageView): readonly Tab[] {
  const { searchParams } = new URL(result.urls.self);
  const named = searchParams.has('with_replies') ? 'Replies' : 'Posts';
  const current = searchParams.has('only_media') ? 'Media' : named;
  const tabs = toPostTabs(result.urls.first, result.items === null ? null : current);
  const search = toSearchUrl(result, view);
  return search === null ? tabs : [...tabs, [searchTab, search, false]];
}

const searchTab = 'Search within';

const parametersOfTabs = {
  Posts: {},
  Replies: { with_replies: 'true' },
  Media: { with_replies: 'true', only_media: 'true' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

function toPostTabs(profileUrl: string, current: string | null): readonly Tab[] {
  return Object.entries(parametersOfTabs).map(([name, parameters]) => {
    const url = new URL(profileUrl);
    for (const other of ['with_replies', 'only_media', 'include_posts']) {
      url.searchParams.delete(other);
    }
    for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
    return [name, url.href, name === current];
  });
}

function toSearchUrl({ profile, source }: ListResult, { baseUrl }: PageView): string | null {
  if (profile === null) return null;
  const platform =
    source === 'archive' && profile.platform !== 'sample' ? 'archive' : profile.platform;
  // Mastodon's search has no operator for the author, and ActivityPub has no search.
  if (platform === 'mastodon' || platform === 'activitypub') return null;
  const query = new URLSearchParams({ q: `from:${profile.screen_name}`, platform });
  return `${baseUrl}/api/v1/search?${query}`;
}

type SearchSubject = Extract<ListSubject, { resource: 'search' }>;

function findSearched({ query, feed }: SearchSubject, { urls }: ListResult): string | null {
  const handle = feed === 'users' ? undefined : /^from:(\S+)/i.exec(query)?.[1];
  const account = handle === undefined ? null : parseHandle(handle);
  const platform = new URL(urls.first).searchParams.get('platform');
  return account !== null && (platform === 'archive' || platform === account.platform)
    ? account.handle
    : null;
}

/** Renders the search form; an empty string for other lists. */
export function renderSearchForm({ subject, urls }: ListResult, { baseUrl }: PageView): string {
  if (subject.resource !== 'search') return '';
  const { searchParams } = new URL(urls.first);
  const kept = [...searchParams].filter(([name]) => name !== 'q');
  const fields = [...kept, ['format', 'html']].map(
    ([name = '', value = '']) =>
      `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  );
  return `<form class="search-form" role="search" aria-label="This search" action="${escapeHtml(`${baseUrl}/search`)}">
${fields.join('')}<input type="search" name="q" aria-label="Words to search for" dir="auto" required maxlength="512" autocomplete="off" value="${escapeLine(subject.query)}">
<button type="submit">Search</button>
</form>`;
}

/** Renders the links to adjacent pages; an empty string for a list with one page. */
export function renderPaging({ urls, next, page }: ListResult, { links }: PageView): string {
  const toLink = (url: string | null | undefined, rel: string, name: string) => {
    const [open, close] = url ? links.toTags(url) : ['', ''];
    return open === '' ? '' : `${open.replace('<a ', `<a ${rel}`)}${name}${close}`;
  };
  const first = page > 2 || (page === 2 && urls.previous === null) ? urls.first : null;
  const shown = joinParts([
    toLink(first, '', 'First page'),
    toLink(urls.previous, 'rel="prev" ', 'Previous page'),
    toLink(next?.url, 'rel="next" ', 'Next page'),
  ]);
  return shown === '' ? '' : `<nav class="paging" aria-label="Pages">\n${shown}\n</nav>`;
}
