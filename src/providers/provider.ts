import type { RequestContext } from '../lib/http/http-client.ts';
import type { Answers, Query, QueryKind } from '../model/queries.ts';
import type { Platform, SearchPlatform } from '../model/reference.ts';
import type { ProviderError } from '../normalize/provider-error.ts';

export const readNames = [
  'post',
  'thread',
  'replies',
  'profile',
  'timeline',
  'followers',
  'following',
  'search',
  'searchUsers',
] as const;

export interface ProviderContext extends RequestContext {
  /**
   * Called when an optional part of a response, such as the replies, fails with `throttled`. The
   * query continues without it. If the error is provider-wide, the callback pauses the provider.
   */
  readonly onThrottled?: (error: ProviderError) => void;
}

/** Function for a kind of query. Throws ProviderError, Problem `rate_limited` or `overloaded`. */
export type Fetch<Kind extends QueryKind> = (
  query: Answers[Kind]['query'],
  context: ProviderContext,
) => Promise<Answers[Kind]['found']>;

/** Whether a provider can answer a query; `last resort`: only after all others have failed. */
export type Coverage = boolean | 'last resort';

export interface Provider {
  readonly name: string;
  readonly platforms: readonly Platform[];
  readonly reads: ReadonlySet<(typeof readNames)[number]>;
  /** Returns whether it can answer a query. For example, the archive has only some accounts. */
  covers(query: Query): Coverage;
  readonly fetch: { readonly [Kind in QueryKind]?: Fetch<Kind> };
  /** Whether the provider reads stored data and sends no requests to upstream servers. */
  readonly isLocal?: boolean;
  /** Returns what a local provider can serve without a network, as nouns for error messages. */
  readonly listStored?: () => readonly string[];
  close?(): void;
}

export function platformOf(query: Query): Platform | SearchPlatform {
  if ('post' in query) return query.post.platform;
  return 'account' in query ? query.account.platform : query.platform;
}
