import type {
  BrowseReply,
  BrowseResult,
  BrowseSubject,
  PostReply,
  PostResult,
} from '../model/results.ts';
import { renderBrowsePage } from './markdown/browse-page.ts';
import { renderPostPage } from './markdown/post-page.ts';

/** Gives the body of a post read: its result and the Markdown page of it. */
function toPostReply(result: PostResult): PostReply {
  return {
    format: 'json',
    url: result.url,
    markdown: renderPostPage(result),
    posts: result.posts,
    compact: !result.full,
    warnings: result.warnings,
    postCount: result.posts.length,
    fetched_at: result.fetchedAt,
    source: result.source,
  };
}

/** Gives a post read as JSON text. */
export function renderPostJson(result: PostResult): string {
  return JSON.stringify(toPostReply(result));
}

/** Gives the body of a browse read: its result and the Markdown page of it. */
function toBrowseReply(result: BrowseResult): BrowseReply {
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
    markdown: renderBrowsePage(result),
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

/** Gives a browse read as JSON text. */
export function renderBrowseJson(result: BrowseResult): string {
  return JSON.stringify(toBrowseReply(result));
}
