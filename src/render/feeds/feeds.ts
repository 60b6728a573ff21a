import { toIsoSeconds } from '../../lib/clock.ts';
import type { Account } from '../../model/account.ts';
import type { JsonFeed, JsonFeedItem } from '../../model/json-feed.ts';
import type { Post } from '../../model/post.ts';
import {
  defaultMastodonHost,
  nobodyOnX,
  parseHandle,
  platform as platforms,
} from '../../model/reference.ts';
import type {
  FeedFormat,
  ListResult,
  ListSubject,
  PageUrls,
  PostResult,
} from '../../model/results.ts';
import type { RenderContext } from '../context.ts';
import type { HistoryDocument, HistoryHeader } from '../history.ts';
import { nameAccount } from '../markdown/blocks.ts';
import { titlePostPage } from '../markdown/post-page.ts';
import { toThread } from '../markdown/thread.ts';
import {
  createToEntry,
  type Entry,
  laterOf,
  listEntryPosts,
  type Person,
  toPerson,
  toPictureUrl,
  toPlainText,
} from './entry.ts';
import { authorityOf, tagPost, toFeedId, toFormatUrl, toStrictUrl } from './urls.ts';
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
  (result: PostResult | ListResult, context: RenderContext): string => {
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

/** Properties of a feed. URLs under `/api/v1` lack `format`, which each renderer adds. */
export interface Feed {
  /** Tag URI (RFC 4151), which is the same on all pages of a list. */
  readonly id: string;
  readonly title: string;
  readonly subtitle: string;
  /** URL of the same content on its platform; `null` without a page there. */
  readonly url: string | null;
  readonly author: Person | null;
  /** Account's profile picture; `null` if there is none. */
  readonly iconUrl: string | null;
  /** Account's banner; `null` if there is none. */
  readonly logoUrl: string | null;
  /** URLs of the feed and its pages; `first` and `previous` are `null` if unknown. */
  readonly urls: {
    readonly self: string;
    readonly first: string | null;
    readonly previous: string | null;
  };
  /** `null` on the last page. */
  readonly nextUrl: string | null;
  /** Media type of `urls.self` without `format`, which Atom feeds state in a link. */
  readonly otherType: 'text/markdown' | 'application/json';
  /** Time of the read from the source (ISO 8601, UTC); update time of feeds without entries. */
  readonly fetchedAt: string;
  /** Number of minutes for which Perch answers the same request from its cache. */
  readonly ttlMinutes: number;
}

/** Returns the posts; `null` if the result has no feeds, such as a list of accounts. */
export function postsOf(result: PostResult | ListResult): readonly Post[] | null {
  if (result.kind === 'post') return result.posts;
  return result.items !== null && 'posts' in result.items ? result.items.posts : null;
}

function toFeed(result: PostResult | ListResult, context: RenderContext): Feed {
  const { urls, fetchedAt, freshSeconds, warnings } = result;
  const about =
    result.kind === 'post' ? describeThread(result, context) : describeList(result, context);
  return {
    ...about,
    ...toTexts(about, warnings),
    urls,
    otherType: 'text/markdown',
    fetchedAt,
    ttlMinutes: Math.max(1, Math.round(freshSeconds / 60)),
    nextUrl: result.kind === 'post' ? null : (result.next?.url ?? null),
  };
}

type About = Pick<Feed, 'id' | 'title' | 'subtitle' | 'url' | 'author' | 'iconUrl' | 'logoUrl'>;

function describeThread(result: PostResult, context: RenderContext): About {
  const { main } = toThread(result.posts);
  const author = main?.author ?? null;
  return {
    id: toFeedId(authorityOf(main?.platform ?? 'x', author?.screen_name ?? ''), result.urls.first),
    title: titlePostPage(result),
    subtitle: 'A post with its thread and replies.',
    url: toStrictUrl(result.url),
    ...describePerson(author, context),
  };
}

function describeList({ subject, profile, urls }: ListResult, context: RenderContext): About {
  const answered = subject.resource === 'replies' ? subject.answered : null;
  return {
    id: toFeedId(authorityOfList(subject, urls), urls.first),
    ...describeSubject(subject, profile),
    url: subject.resource === 'search' ? null : toStrictUrl(subject.url),
    ...describePerson(profile ?? answered?.author ?? null, context),
  };
}

function describeSubject(subject: ListSubject, profile: Account | null) {
  switch (subject.resource) {
    case 'search':
      return { title: `Search: ${subject.query}`, subtitle: 'Posts found by a search.' };
    case 'replies': {
      const author = subject.answered?.author ?? null;
      const post = author === null ? `the post ${subject.id}` : nameAccount(author);
      return { title: `Replies to ${post}`, subtitle: 'Replies to a post.' };
    }
    default:
      return nameFeedOf(profile, subject.handle);
  }
}

function nameFeedOf(account: Account | null, handle: string) {
  const title = account === null ? `@${handle}` : nameAccount(account);
  return { title, subtitle: account?.description || `Posts by ${title}.` };
}

function describeAccount(
  { account, handle }: { readonly account: Account | null; readonly handle: string },
  warnings: readonly string[],
  context: RenderContext,
) {
  const url = toStrictUrl(account?.url ?? null);
  return {
    ...toTexts(nameFeedOf(account, handle), warnings),
    url,
    ...describePerson(account, context),
  };
}

/** Returns plain texts; warnings go to the subtitle, because feeds have no element for them. */
const toTexts = (about: Pick<Feed, 'title' | 'subtitle'>, warnings: readonly string[]) => ({
  title: toPlainText(about.title),
  subtitle: toPlainText([about.subtitle, ...warnings].join(' ')),
});

const describePerson = (account: Account | null, context: RenderContext) => ({
  author: account === null ? null : toPerson(account, context),
  iconUrl: toPictureUrl(account?.avatar_url ?? null, context),
  logoUrl: toPictureUrl(account?.banner_url ?? null, context),
});

function authorityOfList(subject: ListSubject, { first }: PageUrls): string {
  if (subject.resource === 'search') {
    const platform = platforms.safeParse(new URL(first).searchParams.get('platform')).data;
    return authorityOf(platform ?? 'sample', defaultMastodonHost);
  }
  const { platform, handle } = parseHandle(subject.handle ?? nobodyOnX) ?? unknownAccount;
  return authorityOf(platform, handle);
}

const unknownAccount = { platform: 'x', handle: nobodyOnX } as const;
