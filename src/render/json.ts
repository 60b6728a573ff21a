import type { Steps } from '../core/scheduling/slices.ts';
import type {
  BrowseReply,
  BrowseResult,
  BrowseSubject,
  PostReply,
  PostResult,
} from '../model/results.ts';
import { renderBrowsePage } from './markdown/browse-page.ts';
import { renderPostPage } from './markdown/post-page.ts';

function toPostReply(result: PostResult, markdown: string): PostReply {
  return {
    format: 'json',
    url: result.url,
    markdown,
    posts: result.posts,
    compact: !result.full,
    warnings: result.warnings,
    postCount: result.posts.length,
    fetched_at: result.fetchedAt,
    source: result.source,
  };
}

/** Renders a post read as JSON text. Each post is a step. */
export function* renderPostJson(result: PostResult): Steps<string> {
  const markdown = yield* renderPostPage(result);
  return JSON.stringify(toPostReply(result, markdown));
}

function toBrowseReply(result: BrowseResult, markdown: string): BrowseReply {
  const { subject, profile, items, next } = result;
  return {
    resource: subject.resource,
    ...describeSubject(subject),
    ...(profile === null ? {} : { profile }),
    ...items,
    page: result.page,
    limit: result.limit,
    ...(next === null ? {} : { nextCursor: next.cursor }),
    warnings: result.warnings,
    degraded: result.degraded,
    markdown,
    source: result.source,
    fetched_at: result.fetchedAt,
  };
}

function describeSubject(
  subject: BrowseSubject,
): Pick<BrowseReply, 'handle' | 'id' | 'url' | 'query' | 'feed'> {
  switch (subject.resource) {
    case 'search':
      return { query: subject.query, feed: subject.feed };
    case 'replies': {
      const { handle, id, url } = subject;
      return { ...(handle === null ? {} : { handle }), id, url };
    }
    default:
      return { handle: subject.handle };
  }
}

/** Renders a browse read as JSON text. Each post is a step. */
export function* renderBrowseJson(result: BrowseResult): Steps<string> {
  const markdown = yield* renderBrowsePage(result);
  return JSON.stringify(toBrowseReply(result, markdown));
}
