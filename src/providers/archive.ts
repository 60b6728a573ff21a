import { seedSample } from '../archive/sample.ts';
import type { SearchScope } from '../archive/search/match-expression.ts';
import type { AccountRow } from '../archive/store/account-rows.ts';
import { readConversation } from '../archive/store/conversation.ts';
import { type ArchiveStore, openArchiveStore } from '../archive/store/store.ts';
import type { Clock } from '../core/clock.ts';
import { withPath } from '../core/files/private-files.ts';
import type { Account } from '../model/account.ts';
import type { ConnectionsQuery, PostFound, PostQuery, Query } from '../model/queries.ts';
import type {
  AccountReference,
  Platform,
  PostReference,
  SearchPlatform,
} from '../model/reference.ts';
import { ProviderError } from '../platforms/provider-error.ts';
import { toUnavailability, unavailabilityOf } from '../platforms/unavailable.ts';
import { withBounds } from './bounds.ts';
import { toMissing } from './failure.ts';
import { type Coverage, type Provider, platformOf, readNames } from './provider.ts';
import { toRepliesPage } from './rows.ts';

interface ArchiveOptions {
  readonly path: string;
  readonly sample: boolean;
  /** Base URL of this server, for the permalinks of sample posts. */
  readonly baseUrl: string;
  readonly clock: Clock;
}

/**
 * Opens the provider that reads imported posts (the archive) and sample data. @throws Error if the
 * database cannot be opened
 */
export function openArchive(options: ArchiveOptions): Provider {
  const { sample } = options;
  const store = openSeededStore(options);
  return withBounds({
    name: 'archive',
    platforms: [...(sample ? (['sample'] as const) : []), 'x', 'bluesky', 'mastodon'],
    reads: new Set(readNames),
    covers: (query) => covers(store, query, sample),
    ask: createAsk(store, sample),
    isLocal: true,
    listStored: () => [
      ...(store.hasImports() ? ['the imported accounts'] : []),
      ...(sample ? ['the sample, such as the account `ada.example`'] : []),
    ],
    close: () => store.close(),
  });
}

function openSeededStore({ path, baseUrl, sample, clock }: ArchiveOptions): ArchiveStore {
  const store = openArchiveStore(path, baseUrl);
  try {
    if (sample) withPath(path, () => seedSample(store, clock));
    return store;
  } catch (error) {
    store.close();
    throw error;
  }
}

function createAsk(store: ArchiveStore, sample: boolean): Provider['ask'] {
  const connections = async (query: ConnectionsQuery) => {
    const stored = requireAccount(store, query.account);
    const page = store.readConnections({ ...query.account, handle: stored.handle }, query);
    if (!isIncomplete(query, stored.account(), page.items.length)) return page;
    return { ...page, warnings: [...page.warnings, incompleteLists[query.kind]] };
  };
  return {
    post: async (query) => findConversation(store, query),
    replies: async ({ post, order }) => {
      const query = { kind: 'post', post, thread: false, replies: order } as const;
      const page = toRepliesPage(findConversation(store, query));
      if (post.platform === 'sample') return page;
      return { ...page, warnings: [...page.warnings, storedReplies] };
    },
    profile: async ({ account }) => {
      const stored = requireAccount(store, account);
      return { account: stored.account(), warnings: [], asOfMs: stored.stored * 1000 };
    },
    timeline: async (query) => store.readTimeline(requireAccount(store, query.account), query),
    followers: connections,
    following: connections,
    search: async (query) => store.searchPosts(query, toScope(store, query.platform, sample)),
    searchUsers: async (query) => store.searchUsers(query, toScope(store, query.platform, sample)),
  };
}

function covers(store: ArchiveStore, query: Query, sample: boolean): Coverage {
  if (platformOf(query) === 'sample') return sample;
  if ('account' in query) return store.findAccount(query.account) !== undefined;
  if ('post' in query) return coversPost(store, query.post);
  if (query.platform === 'archive') return true;
  return store.hasImports(query.platform) ? 'last resort' : false;
}

function coversPost(store: ArchiveStore, { platform, handle, id }: PostReference): boolean {
  const hasAccount = handle !== null && store.findAccount({ platform, handle }) !== undefined;
  // Ids on X are unique among all accounts, and the handle in a URL may be a former one.
  if (handle === null || platform === 'x') return hasAccount || store.hasPost(platform, id);
  return hasAccount || store.readPost(platform, id, handle) !== undefined;
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

/**
 * Returns the part of the archive to search: one platform, all imports, or the sample data. A search of the whole
 * archive uses the sample data only if `sample` is true and nothing was imported.
 */
function toScope(store: ArchiveStore, target: SearchPlatform, sample: boolean): SearchScope {
  if (target !== 'archive') return target;
  return sample && !store.hasImports() ? 'sample' : 'imports';
}
