import type { RequestContext } from '../core/http/http-client.ts';
import type { Answers, Query, QueryKind } from '../model/queries.ts';
import type { Platform } from '../model/reference.ts';
import type { ProviderError } from '../platforms/provider-error.ts';

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
  /** Called with a throttle that an answer survives, so that the pause is kept all the same. */
  readonly onThrottled?: (error: ProviderError) => void;
}

/** Answers one kind of query. Throws ProviderError, and lets the Problem of `takeRequest` through. */
export type Ask<Kind extends QueryKind> = (
  query: Answers[Kind]['query'],
  context: ProviderContext,
) => Promise<Answers[Kind]['found']>;

/** Whether a provider answers for a subject; a `last resort` only when all others have failed. */
export type Coverage = boolean | 'last resort';

export interface Provider {
  readonly name: string;
  /** The platforms whose references it understands. */
  readonly platforms: readonly Platform[];
  readonly reads: ReadonlySet<(typeof readNames)[number]>;
  /** Returns, without waiting, whether it answers for this subject; the archive holds only some. */
  covers(query: Query): Coverage;
  readonly ask: { readonly [Kind in QueryKind]?: Ask<Kind> };
  /** True where it answers from this machine, so that it may be asked again at any time. */
  readonly isLocal?: boolean;
  close?(): void;
}

export function platformOf(query: Query): string {
  if ('post' in query) return query.post.platform;
  return 'account' in query ? query.account.platform : query.platform;
}
