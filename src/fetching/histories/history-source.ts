import type { Pool } from '../../lib/caller.ts';
import type { RequestContext } from '../../lib/http/http-client.ts';
import type { Quotas } from '../../lib/scheduling/quotas.ts';
import { type Account, toAccount } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';
import type { Page } from '../../model/queries.ts';
import type { ProviderChain } from '../chain/provider-chain.ts';
import { type Requester, toTakeBytes } from '../cost.ts';
import type { HistoryQuery } from './history-result.ts';
import type { PagePlace } from './page-reader.ts';

export interface SourceOptions {
  readonly chain: ProviderChain;
  readonly pool?: Pool | undefined;
  readonly ledger: Quotas;
}

const pageCount = 100;

/** Creates readers of a profile and its timeline. All pages come from the same provider. */
export function createHistorySource(
  { chain, pool, ledger }: SourceOptions,
  { account, withReplies, withReposts, onlyReplies, isIndex }: HistoryQuery,
  { caller, client, signal, span }: Requester,
) {
  const takeRequest = pool && (() => pool.take(caller?.share ?? 'anonymous', client));
  let provider: string | undefined;
  let profileSource = '';
  let profile: Account | null = null;
  const ask = async <Found>(
    pageSignal: AbortSignal,
    read: (request: RequestContext) => Promise<Found>,
  ) => {
    const bytes = ledger.open('upstreamBytes', client ?? null);
    try {
      const takeBytes = toTakeBytes(bytes);
      return await read({ signal: pageSignal, takeRequest, takeBytes, client, span });
    } finally {
      bytes.release();
    }
  };
  return {
    get name() {
      return provider ?? profileSource;
    },
    get isArchive() {
      return profileSource === 'archive' || provider === 'archive';
    },
    get account() {
      return profile;
    },
    readProfile: async (): Promise<Account> => {
      const query = { kind: 'profile', account } as const;
      const { found, source } = await ask(signal, (request) =>
        chain.ask('profile', query, request),
      );
      profileSource = source;
      profile = found.account;
      return profile;
    },
    readPage: async (place: PagePlace, pageSignal: AbortSignal): Promise<Page<Post>> => {
      const list = { kind: 'timeline', account, withReplies, withReposts, onlyReplies } as const;
      const query = { ...list, ...place, count: pageCount };
      const { found, source } = await ask(pageSignal, (request) =>
        chain.ask('timeline', query, { ...request, provider, isBackground: true }),
      );
      provider ??= source;
      return isIndex ? toOutline(found) : found;
    },
  };
}

/** Reduces the posts of a page to the fields that are needed to list ids and times in order. */
export function toOutline(page: Page<Post>): Page<Post> {
  return { ...page, items: page.items.flatMap(outlinePost) };
}

function outlinePost(post: Post): readonly Status[] {
  if (post.type === 'tombstone') return [];
  const outline = {
    ...post,
    ...{ text: '', facets: [], quote: null, poll: null, article: null, card: null },
    author: outlineAccount(post.author),
    reposted_by: post.reposted_by && outlineAccount(post.reposted_by),
    media: { all: [], photos: [], videos: [] },
    community_note: null,
  };
  return [outline];
}

const outlineAccount = ({ id, screen_name, platform }: Account): Account =>
  toAccount({ id, screen_name, name: '', url: '', platform });
