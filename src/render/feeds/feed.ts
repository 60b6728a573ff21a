import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import {
  defaultMastodonHost,
  nobodyOnX,
  parseHandle,
  platform as platforms,
} from '../../model/reference.ts';
import type { BrowseResult, BrowseSubject, PageUrls, PostResult } from '../../model/results.ts';
import type { RenderContext } from '../context.ts';
import { nameAccount } from '../markdown/accounts.ts';
import { titlePostPage } from '../markdown/post-page.ts';
import { toThread } from '../markdown/thread.ts';
import { type Person, toPerson, toPictureUrl, toPlainText } from './entry.ts';
import { authorityOf, toFeedId, toStrictUrl } from './urls.ts';

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
export function postsOf(result: PostResult | BrowseResult): readonly Post[] | null {
  if (result.kind === 'post') return result.posts;
  return result.items !== null && 'posts' in result.items ? result.items.posts : null;
}

export function toFeed(result: PostResult | BrowseResult, context: RenderContext): Feed {
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

function describeList({ subject, profile, urls }: BrowseResult, context: RenderContext): About {
  const answered = subject.resource === 'replies' ? subject.answered : null;
  return {
    id: toFeedId(authorityOfList(subject, urls), urls.first),
    ...describeSubject(subject, profile),
    url: subject.resource === 'search' ? null : toStrictUrl(subject.url),
    ...describePerson(profile ?? answered?.author ?? null, context),
  };
}

function describeSubject(subject: BrowseSubject, profile: Account | null) {
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

/** Returns the title, URL, author and pictures of an account's feed. */
export function describeAccount(
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

function authorityOfList(subject: BrowseSubject, { first }: PageUrls): string {
  if (subject.resource === 'search') {
    const platform = platforms.safeParse(new URL(first).searchParams.get('platform')).data;
    return authorityOf(platform ?? 'sample', defaultMastodonHost);
  }
  const { platform, handle } = parseHandle(subject.handle ?? nobodyOnX) ?? unknownAccount;
  return authorityOf(platform, handle);
}

const unknownAccount = { platform: 'x', handle: nobodyOnX } as const;
