import { parseUrl } from '../../core/http/url.ts';
import type { BrowseResult, PostResult } from '../../model/results.ts';
import type { RenderContext } from '../context.ts';
import type { HtmlView } from '../html/view.ts';
import { toThread } from '../markdown/thread.ts';
import { createPageLinks } from './links.ts';

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
