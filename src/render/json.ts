import type { PostReply, PostResult } from '../model/results.ts';
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
