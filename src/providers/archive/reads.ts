import type { SearchScope } from '../../archive/search/search.ts';
import type { AccountRow } from '../../archive/store/account-rows.ts';
import { maxDirectReplies, type ReadPost } from '../../archive/store/post-rows.ts';
import type { ArchiveStore } from '../../archive/store/store.ts';
import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import type {
  Answers,
  ConnectionsQuery,
  PostFound,
  PostQuery,
  QueryKind,
} from '../../model/queries.ts';
import type { AccountReference, Platform, SearchPlatform } from '../../model/reference.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { toUnavailability, unavailabilityOf } from '../../normalize/unavailable.ts';
import { toMissing } from '../failure.ts';
import { toRepliesPage } from '../rows.ts';

/** Functions that answer queries from the archive. They block the thread while SQLite runs. */
export type ArchiveReads = {
  readonly [Kind in QueryKind]: (query: Answers[Kind]['query']) => Answers[Kind]['found'];
};

/** Returns functions that throw ProviderError if the archive has no answer. */
export function createReads(store: ArchiveStore, sample: boolean): ArchiveReads {
  const connections = (query: ConnectionsQuery) => {
    const stored = requireAccount(store, query.account);
    const page = store.readConnections({ ...query.account, handle: stored.handle }, query);
    if (!isIncomplete(query, stored.account(), page.items.length)) return page;
    return { ...page, warnings: [...page.warnings, incompleteLists[query.kind]] };
  };
  return {
    post: (query) => findConversation(store, query),
    replies: ({ post, order }) => {
      const query = { kind: 'post', post, thread: false, replies: order } as const;
      const page = toRepliesPage(findConversation(store, query));
      if (post.platform === 'sample') return page;
      return { ...page, warnings: [...page.warnings, storedReplies] };
    },
    profile: ({ account }) => {
      const stored = requireAccount(store, account);
      return { account: stored.account(), warnings: [], asOfMs: stored.stored * 1000 };
    },
    timeline: (query) => store.readTimeline(requireAccount(store, query.account), query),
    followers: connections,
    following: connections,
    search: (query) => store.searchPosts(query, toScope(store, query.platform, sample)),
    searchUsers: (query) => store.searchUsers(query, toScope(store, query.platform, sample)),
  };
}

function findConversation(store: ArchiveStore, query: PostQuery): PostFound {
  const found = readConversation(store, query);
  if (found?.post.type === 'status') return found;
  if (found !== undefined) throw toMissing(unavailabilityOf(found.post));
  const { platform, handle } = query.post;
  if (handle !== null && store.findAccount({ platform, handle })?.isProtected) throw isProtected();
  throw toNotStored(platform, 'post', 'this post of the account');
}

function requireAccount(store: ArchiveStore, reference: AccountReference): AccountRow {
  const stored = store.findAccount(reference);
  if (stored?.isProtected) throw isProtected();
  if (stored === undefined) throw toNotStored(reference.platform, 'account', 'this account');
  return stored;
}

function toNotStored(platform: Platform, noun: 'post' | 'account', subject: string): ProviderError {
  if (platform === 'sample') return new ProviderError('missing', `The sample has no such ${noun}.`);
  const sentence = `The archive does not contain ${subject}.`;
  return new ProviderError('ambiguous', sentence, { isEvidence: false });
}

const storedReplies = 'These are only the replies in the archive. The platform may have more.';

const incompleteLists = {
  followers:
    'The export of this account does not contain its followers. This list contains only the followers that the archive knows from other exports.',
  following: 'The export of this account does not contain the accounts it follows.',
} as const;

function isIncomplete(
  { kind, account }: ConnectionsQuery,
  known: Account,
  length: number,
): boolean {
  // A Bluesky repository contains all accounts that the owner follows, and no followers.
  if (account.platform === 'bluesky') return kind === 'followers';
  return account.platform !== 'sample' && length === 0 && known[kind] !== 0;
}

const isProtected = (): ProviderError =>
  toMissing(toUnavailability('protected', 'The account is protected.'));

function toScope(store: ArchiveStore, target: SearchPlatform, sample: boolean): SearchScope {
  if (target !== 'archive') return target;
  return sample && !store.hasImports() ? 'sample' : 'imports';
}

const limits = {
  /** Maximum number of posts before the requested post: its parent, the parent's parent, etc. */
  ancestors: 100,
  /** Maximum number of later posts in which the author continues the thread. */
  continuation: 100,
  /** Maximum number of direct and indirect replies. */
  replies: 500,
} as const;

const manyReplies = `The archive reads at most ${maxDirectReplies} replies to each post and ${limits.replies} in total, so some replies may be missing.`;

function readConversation(store: ArchiveStore, query: PostQuery): PostFound | undefined {
  const { platform, id, handle } = query.post;
  // Rows contain the archived handle of the account. On Bluesky, the request can contain another
  // name.
  const account = handle === null ? undefined : store.findAccount({ platform, handle });
  const read = store.readPost(platform, id, account?.handle ?? handle);
  if (read === undefined) return undefined;
  const continuation = query.thread ? readContinuation(store, read) : [];
  const shown = new Set([read.post, ...continuation].map(keyOf));
  const { replies, isCut } =
    query.replies === 'off'
      ? { replies: [], isCut: false }
      : readReplies(store, read.post, { order: query.replies, shown });
  return {
    ancestors: query.thread ? readAncestors(store, read) : [],
    post: read.post,
    continuation,
    replies,
    missing: [],
    warnings: isCut ? [manyReplies] : [],
    asOfMs: read.stored * 1000,
  };
}

function readAncestors(store: ArchiveStore, of: ReadPost): readonly Post[] {
  const ancestors = follow(of, limits.ancestors, (reply) => store.readParent(reply));
  return ancestors.map(({ post }) => post).reverse();
}

function readContinuation(store: ArchiveStore, from: ReadPost): readonly Post[] {
  const handle = authorOf(from.post);
  if (handle === undefined) return [];
  const isOwn = ({ post }: ReadPost) => authorOf(post) === handle;
  const leadsOn = ({ post }: ReadPost) =>
    post.type === 'tombstone' && store.readReplies(post).some(isOwn);
  const own = follow(from, limits.continuation, ({ post }) => {
    const replies = store.readReplies(post);
    return replies.find(isOwn) ?? replies.find(leadsOn);
  });
  return own.map(({ post }) => post);
}

function follow(
  first: ReadPost,
  limit: number,
  findNext: (last: ReadPost) => ReadPost | undefined,
): readonly ReadPost[] {
  const followed: ReadPost[] = [];
  const seen = new Set([keyOf(first.post)]);
  let next = findNext(first);
  while (next !== undefined && followed.length < limit && !seen.has(keyOf(next.post))) {
    seen.add(keyOf(next.post));
    followed.push(next);
    next = findNext(next);
  }
  return followed;
}

const authorOf = (post: Post): string | undefined => post.author?.screen_name.toLowerCase();

const keyOf = (post: Post): string => `${authorOf(post) ?? ''} ${post.id}`;

function readReplies(
  store: ArchiveStore,
  to: Post,
  { order, shown }: { readonly order: PostQuery['replies']; readonly shown: ReadonlySet<string> },
) {
  const replies: Post[] = [];
  const direct = store.readReplies(to).map(({ post }) => post);
  const pending = rank(direct, order).reverse();
  const seen = new Set(shown);
  let isCut = direct.length >= maxDirectReplies;
  while (pending.length > 0 && replies.length < limits.replies) {
    const post = pending.pop();
    if (post === undefined || seen.has(keyOf(post))) continue;
    seen.add(keyOf(post));
    replies.push(post);
    const below = store.readReplies(post);
    isCut ||= below.length >= maxDirectReplies;
    pending.push(...below.map((read) => read.post).reverse());
  }
  return { replies, isCut: isCut || pending.length > 0 };
}

function rank(posts: readonly Post[], order: PostQuery['replies']): Post[] {
  const likes = (post: Post) => (post.type === 'status' ? (post.likes ?? 0) : -1);
  const time = (post: Post) => (post.type === 'status' ? post.created_timestamp : 0);
  const byTime = (a: Post, b: Post) => time(b) - time(a);
  const byLikes = (a: Post, b: Post) => likes(b) - likes(a) || byTime(b, a);
  return posts.toSorted(order === 'recent' ? byTime : byLikes);
}
