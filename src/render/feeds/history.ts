import { toIsoSeconds } from '../../core/clock.ts';
import type { FeedFormat } from '../../model/results.ts';
import type { RenderContext } from '../context.ts';
import type { HistoryDocument, HistoryHeader } from '../history.ts';
import { createToEntry, laterOf, listEntryPosts } from './entry.ts';
import { describeAccount, type Feed } from './feed.ts';
import { feedWriters } from './feeds.ts';
import { authorityOf, tagPost, toFeedId } from './tags.ts';

interface HistoryFeedOptions {
  readonly format: FeedFormat;
  readonly context: RenderContext;
}

/** Creates a writer of a history as a feed, which links to older posts if it is incomplete. */
export function createHistoryFeed(
  header: HistoryHeader,
  { format, context }: HistoryFeedOptions,
): HistoryDocument {
  const writer = feedWriters[format];
  const written = new Set<string>();
  let updated = '';
  return {
    add: (placed) => {
      const posts = placed.map(({ post }) => post);
      const toEntry = createToEntry(posts, { context, hasReplyCounts: false });
      const fresh = listEntryPosts(posts).filter((post) => !written.has(tagPost(post)));
      const texts = fresh.map((post) => {
        const entry = toEntry(post);
        updated = laterOf(updated, entry.updated);
        const separator = written.size === 0 ? '' : writer.separator;
        written.add(entry.id);
        return `${separator}${writer.writeEntry(entry)}`;
      });
      return texts.join('');
    },
    finish: ({ nextUntilSecond, warnings }) => {
      const feed = toHistoryFeed(header, { nextUntilSecond, warnings }, context);
      return { start: writer.writeStart(feed, updated || feed.fetchedAt), end: writer.end };
    },
  };
}

const ttlMinutes = 60;

interface HistoryEnd {
  readonly nextUntilSecond: number | null;
  readonly warnings: readonly string[];
}

function toHistoryFeed(
  { account, handle, query, fetchedAtMs, toUrl }: HistoryHeader,
  { nextUntilSecond, warnings }: HistoryEnd,
  context: RenderContext,
): Feed {
  const { baseUrl } = context;
  const self = toUrl(query.untilSeconds, baseUrl);
  const { platform } = query.account;
  return {
    id: toFeedId(authorityOf(platform, handle), self),
    ...describeAccount({ account, handle }, warnings, context),
    urls: { self, first: null, previous: null },
    nextUrl: nextUntilSecond === null ? null : toUrl(nextUntilSecond, baseUrl),
    otherType: 'application/json',
    fetchedAt: toIsoSeconds(fetchedAtMs),
    ttlMinutes,
  };
}
