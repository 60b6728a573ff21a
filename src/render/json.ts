import { toJsonBody } from '../core/http/to-json-body.ts';
import type { Steps } from '../core/scheduling/slices.ts';
import type { BrowseReply, BrowseResult, PostReply, PostResult } from '../model/results.ts';
import { renderBrowsePage } from './markdown/browse-page.ts';
import { renderPostPage } from './markdown/post-page.ts';

/** Renders a post with its thread as JSON text. The generator yields after each post to let other tasks run. */
export function* renderPostJson(result: PostResult): Steps<string> {
  const reply: PostReply = {
    format: 'json',
    url: result.url,
    markdown: yield* renderPostPage(result),
    posts: result.posts,
    compact: !result.full,
    warnings: result.warnings,
    postCount: result.posts.length,
    fetched_at: result.fetchedAt,
    source: result.source,
  };
  return toJsonBody(reply);
}

/** Renders a page of posts or accounts as JSON text. The generator yields after each post to let other tasks run. */
export function* renderBrowseJson(result: BrowseResult): Steps<string> {
  const { subject, profile, items, next } = result;
  const reply: BrowseReply = {
    resource: subject.resource,
    ...describeSubject(subject),
    ...(profile !== null && { profile }),
    ...items,
    page: result.page,
    limit: result.limit,
    ...(next !== null && { nextCursor: next.cursor }),
    warnings: result.warnings,
    degraded: result.degraded,
    markdown: yield* renderBrowsePage(result),
    source: result.source,
    fetched_at: result.fetchedAt,
  };
  return toJsonBody(reply);
}

function describeSubject(subject: BrowseResult['subject']): Partial<BrowseReply> {
  if (subject.resource === 'search') return { query: subject.query, feed: subject.feed };
  if (subject.resource !== 'replies') return { handle: subject.handle };
  const { handle, id, url } = subject;
  return { ...(handle !== null && { handle }), id, url };
}
