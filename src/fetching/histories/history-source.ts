import type { Pool } from '../../core/caller.ts';
import type { RequestContext } from '../../core/http/http-client.ts';
import type { Ledger } from '../../core/scheduling/ledger.ts';
import { type Account, toAccount } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';
import type { Page } from '../../model/queries.ts';
import type { ProviderChain } from '../chain/provider-chain.ts';
import { toTakeBytes, type Waiting } from '../cost.ts';
import type { HistoryQuery } from './history-query.ts';
import type { PagePlace } from './page-span.ts';

export interface SourceOptions {
  readonly chain: ProviderChain;
  /** The upstream requests are taken from it; absent if they are not counted. */
  readonly pool?: Pool | undefined;
  /** Bounds the imports (`histories`) and the bytes that they receive (`upstreamBytes`). */
  readonly ledger: Ledger;
}

/** As many rows as a provider gives at once. */
const pageCount = 100;

/** Creates the source of an import. The provider of the first page gives all, as no other reads its cursors. */
export function createHistorySource(
  { chain, pool, ledger }: SourceOptions,
  { account, withReplies, withReposts, isIndex }: HistoryQuery,
  { caller, client, signal }: Waiting,
) {
  const takeRequest = pool && (() => pool.take(caller?.share ?? 'anonymous', client));
  let provider: string | undefined;
  let profiled = '';
  let profile: Account | null = null;
  /** Asks the chain on behalf of the caller. The bytes of an answer are held until it is read. */
  const ask = async <Found>(
    pageSignal: AbortSignal,
    read: (request: RequestContext) => Promise<Found>,
  ): Promise<Found> => {
    const bytes = ledger.open('upstreamBytes', client ?? null);
    try {
      const takeBytes = toTakeBytes(bytes);
      return await read({ signal: pageSignal, takeRequest, takeBytes, client });
    } finally {
      bytes.release();
    }
  };
  return {
    get name() {
      return provider ?? profiled;
    },
    get isArchive() {
      return profiled === 'archive' || provider === 'archive';
    },
    /** The profile; `null` until it is read. */
    get account() {
      return profile;
    },
    readProfile: async (): Promise<Account> => {
      const query = { kind: 'profile', account } as const;
      const { found, source } = await ask(signal, (request) =>
        chain.ask('profile', query, request),
      );
      profiled = source;
      profile = found.account;
      return profile;
    },
    readPage: async (place: PagePlace, pageSignal: AbortSignal): Promise<Page<Post>> => {
      const list = {
        kind: 'timeline',
        account,
        withReplies,
        withReposts,
        count: pageCount,
      } as const;
      const { found, source } = await ask(pageSignal, (request) =>
        chain.ask('timeline', { ...list, ...place }, { ...request, provider, isUnhurried: true }),
      );
      provider ??= source;
      return isIndex ? toOutline(found) : found;
    },
  };
}

/** Returns a page for an index: its posts without everything that neither their order nor an index needs. */
export function toOutline(page: Page<Post>): Page<Post> {
  return { ...page, items: page.items.flatMap(outlinePost) };
}

/** A tombstone has no time, so an index has no place for it. */
function outlinePost(post: Post): readonly Status[] {
  if (post.type === 'tombstone') return [];
  const empty = { text: '', facets: [], quote: null, poll: null, article: null, card: null };
  return [
    {
      ...post,
      ...empty,
      author: outlineAccount(post.author),
      reposted_by: post.reposted_by === null ? null : outlineAccount(post.reposted_by),
      media: { all: [], photos: [], videos: [] },
      community_note: null,
    },
  ];
}

function outlineAccount({ id, screen_name, platform }: Account): Account {
  return toAccount({ id, screen_name, name: '', url: '', platform });
}
