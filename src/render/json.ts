import { toJsonBody } from '../core/http/to-json-body.ts';
import type { BrowseReply, BrowseResult, PostReply, PostResult } from '../model/results.ts';
import { renderBrowsePage } from './markdown/browse-page.ts';
import { renderPostPage } from './markdown/post-page.ts';

export function renderPostJson(result: PostResult): string {
  const { format, url, ...rest } = describePost(result);
  return toJsonBody({ format, url, markdown: renderPostPage(result), ...rest } satisfies PostReply);
}

/** Renders a post with its thread, without the member `markdown`. */
export const renderPostData = (result: PostResult): string => toJsonBody(describePost(result));

function describePost(result: PostResult): Omit<PostReply, 'markdown'> {
  return {
    format: 'json',
    url: result.url,
    posts: result.posts,
    compact: !result.full,
    warnings: result.warnings,
    postCount: result.posts.length,
    fetched_at: result.fetchedAt,
    source: result.source,
  };
}

export function renderBrowseJson(result: BrowseResult): string {
  const { source, fetched_at, ...rest } = describeList(result);
  const markdown = renderBrowsePage(result);
  return toJsonBody({ ...rest, markdown, source, fetched_at } satisfies BrowseReply);
}

/** Renders a page of posts or accounts, without the member `markdown`. */
export const renderBrowseData = (result: BrowseResult): string => toJsonBody(describeList(result));

function describeList(result: BrowseResult): Omit<BrowseReply, 'markdown'> {
  const { subject, profile, items, next } = result;
  return {
    resource: subject.resource,
    ...describeSubject(subject),
    ...(profile !== null && { profile }),
    ...items,
    page: result.page,
    limit: result.limit,
    ...(next !== null && { nextCursor: next.cursor }),
    warnings: result.warnings,
    degraded: result.degraded,
    source: result.source,
    fetched_at: result.fetchedAt,
  };
}

function describeSubject(subject: BrowseResult['subject']): Partial<BrowseReply> {
  if (subject.resource === 'search') return { query: subject.query, feed: subject.feed };
  if (subject.resource !== 'replies') return { handle: subject.handle };
  const { handle, id, url } = subject;
  return { ...(handle !== null && { handle }), id, url };
}
