import { parseHandle, platformNames } from '../../model/reference.ts';
import { type BrowseResult, feedFormats, type PostResult } from '../../model/results.ts';
import type { RenderContext } from '../context.ts';
import { postsOf } from '../feeds/feed.ts';
import { feedMediaTypes } from '../feeds/feeds.ts';
import { toFormatUrl } from '../feeds/urls.ts';
import { escapeHtml, openLink } from '../html/escape.ts';
import { toThread } from '../markdown/thread.ts';
import { mastodonHostOf } from './view.ts';

type ShownResult = PostResult | BrowseResult;

/** Renders links to the original, to the page itself, and to the other formats. */
export function renderTools(result: ShownResult, context: RenderContext): string {
  const url = originalOf(result);
  // Posts of the sample have no page on another platform.
  const original = url?.startsWith(`${context.baseUrl}/`) === true ? null : openLink(url);
  const share = escapeHtml(toShareUrl(result, context));
  const links = [
    ...(original === null ? [] : [`${original}${nameOriginal(result)}</a>`]),
    `<a href="${share}">Link to this page</a>`,
    ...listAlternates(result).map(({ name, url }) => `<a href="${escapeHtml(url)}">${name}</a>`),
  ].map((link) => `<li>${link}</li>`);
  const keys = hasThreadKeys(result)
    ? '\n<p class="keys">Keys: <kbd>j</kbd> next post, <kbd>k</kbd> previous post</p>'
    : '';
  return `<nav class="tools" aria-label="This page"><ul>${links.join('')}</ul>${keys}</nav>`;
}

/** Returns whether the keys `j` and `k` move between posts: there is more than one. */
export const hasThreadKeys = (result: ShownResult): boolean =>
  result.kind === 'post' && result.posts.length > 1;

/** Returns the URL on the social platform; `null` for a search. */
export function originalOf(result: ShownResult): string | null {
  if (result.kind === 'post') return result.url;
  return result.subject.resource === 'search' ? null : result.subject.url;
}

function nameOriginal(result: ShownResult): string {
  const found = result.kind === 'post' ? toThread(result.posts).main : findSubject(result);
  return found ? `Open on ${platformNames[found.platform]}` : 'Open the original';
}

function findSubject({ subject }: BrowseResult) {
  if (subject.resource === 'search') return null;
  return subject.resource === 'replies' ? subject.answered : parseHandle(subject.handle);
}

function toShareUrl(result: ShownResult, { toOwnPage }: RenderContext): string {
  const { self } = result.urls;
  const isProfile = result.kind === 'browse' && result.subject.resource === 'profile';
  const hasPermalink = result.kind === 'post' || (isProfile && !self.includes('?'));
  const url = hasPermalink ? originalOf(result) : null;
  const page = url === null ? null : toOwnPage?.(url, mastodonHostOf(result));
  return page?.url ?? toFormatUrl(self, 'html');
}

/** Returns URL, media type and name of each format except HTML. */
export function listAlternates(result: ShownResult) {
  const feeds = postsOf(result) === null ? [] : feedFormats;
  const others = [
    { format: 'markdown', type: 'text/markdown', name: 'Markdown' },
    { format: 'json', type: 'application/json', name: 'JSON' },
    ...feeds.map((format) => ({
      format,
      type: feedMediaTypes[format].split(';', 1).join(),
      name: feedNames[format],
    })),
  ] as const;
  return others.map(({ format, ...other }) => ({
    ...other,
    url: toFormatUrl(result.urls.self, format),
  }));
}

const feedNames = { atom: 'Atom', rss: 'RSS', jsonfeed: 'JSON Feed' } as const;
