import type { BrowseResult, FeedFormat, PostResult } from '../../model/results.ts';
import type { RenderContext } from '../context.ts';
import { atom } from './atom.ts';
import { createToEntry, type Entry, laterOf, listEntryPosts } from './entry.ts';
import { type Feed, postsOf, toFeed } from './feed.ts';
import { jsonFeed } from './json-feed.ts';
import { rss } from './rss.ts';

/** Parts of a feed document: start, entries joined with `separator`, and `end`. */
export interface FeedWriter {
  /** Writes the start of a document. `updated`: latest change of any entry (ISO 8601, UTC). */
  readonly writeStart: (feed: Feed, updated: string) => string;
  readonly writeEntry: (entry: Entry) => string;
  readonly separator: string;
  readonly end: string;
}

export const feedWriters: Readonly<Record<FeedFormat, FeedWriter>> = {
  atom,
  rss,
  jsonfeed: jsonFeed,
};

export const feedMediaTypes = {
  atom: 'application/atom+xml; charset=utf-8',
  rss: 'application/rss+xml; charset=utf-8',
  jsonfeed: 'application/feed+json; charset=utf-8',
} as const satisfies Record<FeedFormat, string>;

/** Creates a generator that yields after each post, to let other tasks run. */
export function createFeedRenderer(format: FeedFormat) {
  const writer = feedWriters[format];
  return function renderFeed(result: PostResult | BrowseResult, context: RenderContext): string {
    const posts = postsOf(result);
    if (posts === null) throw new Error('A result without posts has no feed.');
    const toEntry = createToEntry(posts, { context, hasReplyCounts: result.kind === 'post' });
    let updated = '';
    const entries = listEntryPosts(posts).map((post) => {
      const entry = toEntry(post);
      updated = laterOf(updated, entry.updated);
      return writer.writeEntry(entry);
    });
    const feed = toFeed(result, context);
    const start = writer.writeStart(feed, updated || feed.fetchedAt);
    return `${start}${entries.join(writer.separator)}${writer.end}`;
  };
}
