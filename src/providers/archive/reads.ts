import type { SearchScope } from '../../archive/search/match-expression.ts';
import type { AccountRow } from '../../archive/store/account-rows.ts';
import { readConversation } from '../../archive/store/conversation.ts';
import type { ArchiveStore } from '../../archive/store/store.ts';
import type { Account } from '../../model/account.ts';
import type {
  Answers,
  ConnectionsQuery,
  PostFound,
  PostQuery,
  QueryKind,
} from '../../model/queries.ts';
import type { AccountReference, Platform, SearchPlatform } from '../../model/reference.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { toUnavailability, unavailabilityOf } from '../../platforms/unavailable.ts';
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
