import { toIsoSeconds } from '../../core/clock.ts';
import type { JsonFeed, JsonFeedItem } from '../../model/json-feed.ts';
import type { Post } from '../../model/post.ts';
import type { BrowseResult, FeedFormat, PostResult } from '../../model/results.ts';
import type { RenderContext } from '../context.ts';
import type { HistoryDocument, HistoryHeader } from '../history.ts';
import { createToEntry, type Entry, laterOf, listEntryPosts, type Person } from './entry.ts';
import { describeAccount, type Feed, postsOf, toFeed } from './feed.ts';
import { authorityOf, tagPost, toFeedId, toFormatUrl } from './urls.ts';
import { atom, rss } from './xml-feeds.ts';

/** Writer of JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/) with extension `_perch`. */
const jsonFeed: FeedWriter = {
  writeStart: (feed) => {
    const { urls, nextUrl, author } = feed;
    const toUrl = (url: string) => toFormatUrl(url, 'jsonfeed');
    const head: Omit<JsonFeed, 'items'> = {
      version: 'https://jsonfeed.org/version/1.1',
      title: feed.title,
      home_page_url: feed.url ?? urls.self,
      feed_url: toUrl(urls.self),
      ...(feed.subtitle !== '' && { description: feed.subtitle }),
      ...(nextUrl !== null && { next_url: toUrl(nextUrl) }),
      ...(feed.iconUrl !== null && { icon: feed.iconUrl }),
      ...(author !== null && { authors: [toAuthor(author)] }),
      _perch: {
        id: feed.id,
        ...(urls.first !== null && { first_url: toUrl(urls.first) }),
        ...(urls.previous !== null && { previous_url: toUrl(urls.previous) }),
      },
    };
    return `${JSON.stringify(head).slice(0, -1)},"items":[`;
  },
  writeEntry: (entry) => JSON.stringify(toItem(entry)),
  separator: ',',
  end: ']}\n',
};

const toAuthor = ({ name, url, avatarUrl }: Person) => ({
  name,
  ...(url !== null && { url }),
  ...(avatarUrl !== null && { avatar: avatarUrl }),
});

function toItem(entry: Entry): JsonFeedItem {
  const { url, categories, media } = entry;
  const image = media.find(({ medium }) => medium === 'image')?.url ?? media[0]?.thumbnailUrl;
  return {
    id: entry.id,
    ...(url !== null && { url }),
    title: entry.title,
    content_html: entry.html,
    ...(image && { image }),
    date_published: entry.published,
    date_modified: entry.updated,
    authors: [toAuthor(entry.author)],
    ...(categories.length > 0 && { tags: categories }),
    ...(media.length > 0 && { attachments: media.map(toAttachment) }),
    ...toExtension(entry),
  };
}

const toAttachment = (item: Entry['media'][number]) => ({
  url: item.url,
  mime_type: item.mediaType,
  ...(item.description !== '' && { title: item.description }),
  ...(item.duration !== null && { duration_in_seconds: item.duration }),
});

function toExtension({ inReplyTo, repliesUrl, replyCount }: Entry): Pick<JsonFeedItem, '_perch'> {
  const members = {
    ...(inReplyTo !== null && { in_reply_to: inReplyTo }),
    ...(repliesUrl !== null && { replies_url: toFormatUrl(repliesUrl, 'jsonfeed') }),
    ...(replyCount !== null && { reply_count: replyCount }),
  };
  return Object.keys(members).length === 0 ? {} : { _perch: members };
}

/** Parts of a feed document: start, entries joined with `separator`, and `end`. */
export interface FeedWriter {
  /** Writes the start of a document. `updated`: latest change of any entry (ISO 8601, UTC). */
  readonly writeStart: (feed: Feed, updated: string) => string;
  readonly writeEntry: (entry: Entry) => string;
  readonly separator: string;
  readonly end: string;
}

const feedWriters: Readonly<Record<FeedFormat, FeedWriter>> = { atom, rss, jsonfeed: jsonFeed };

export const feedMediaTypes = {
  atom: 'application/atom+xml; charset=utf-8',
  rss: 'application/rss+xml; charset=utf-8',
  jsonfeed: 'application/feed+json; charset=utf-8',
} as const satisfies Record<FeedFormat, string>;

interface FeedOptions {
  readonly format: FeedFormat;
  readonly context: RenderContext;
}

export const createFeedRenderer =
  (format: FeedFormat) =>
  (result: PostResult | BrowseResult, context: RenderContext): string => {
    const posts = postsOf(result);
    if (posts === null) throw new Error('A result without posts has no feed.');
    const feed = createFeedDocument({ format, context, hasReplyCounts: result.kind === 'post' });
    const entries = feed.add(posts);
    const { start, end } = feed.finish(toFeed(result, context));
    return `${start}${entries}${end}`;
  };

/** Creates a writer of a history as a feed, which links to older posts if it is incomplete. */
export function createHistoryFeed(header: HistoryHeader, options: FeedOptions): HistoryDocument {
  const feed = createFeedDocument({ ...options, hasReplyCounts: false });
  return {
    add: (placed) => feed.add(placed.map(({ post }) => post)),
    finish: (end) => feed.finish(toHistoryFeed(header, end, options.context)),
  };
}

function createFeedDocument(options: FeedOptions & { readonly hasReplyCounts: boolean }) {
  const { writeStart, writeEntry, separator, end } = feedWriters[options.format];
  const written = new Set<string>();
  let updated = '';
  return {
    add: (posts: readonly Post[]): string => {
      const toEntry = createToEntry(posts, options);
      const fresh = listEntryPosts(posts).filter((post) => !written.has(tagPost(post)));
      const texts = fresh.map((post) => {
        const entry = toEntry(post);
        updated = laterOf(updated, entry.updated);
        const text = `${written.size === 0 ? '' : separator}${writeEntry(entry)}`;
        written.add(entry.id);
        return text;
      });
      return texts.join('');
    },
    finish: (feed: Feed) => ({ start: writeStart(feed, updated || feed.fetchedAt), end }),
  };
}

function toHistoryFeed(
  { account, handle, query, fetchedAtMs, toUrl }: HistoryHeader,
  { nextUntilSecond, warnings }: Parameters<HistoryDocument['finish']>[0],
  context: RenderContext,
): Feed {
  const { baseUrl } = context;
  const self = toUrl(query.untilSeconds, baseUrl);
  return {
    id: toFeedId(authorityOf(query.account.platform, handle), self),
    ...describeAccount({ account, handle }, warnings, context),
    urls: { self, first: null, previous: null },
    nextUrl: nextUntilSecond === null ? null : toUrl(nextUntilSecond, baseUrl),
    otherType: 'application/json',
    fetchedAt: toIsoSeconds(fetchedAtMs),
    ttlMinutes: 60,
  };
}
