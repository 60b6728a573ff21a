import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import type { Answers, ProfileQuery } from '../../model/queries.ts';
import type { ListPosition } from './list-position.ts';

/** The kinds of query that are answered page by page. */
export type ListKind =
  | 'timeline'
  | 'replies'
  | 'followers'
  | 'following'
  | 'search'
  | 'searchUsers';

/** A list as a whole: a provider's query without the place in it. */
export type ListQuery = {
  [Kind in ListKind]: Omit<Answers[Kind]['query'], 'cursor' | 'count'>;
}[ListKind];

/** A row of a list. */
export type ListItem = Post | Account;

/** Asks for one page of a list, with the profile that it belongs to where that is wanted. */
export interface BrowseQuery {
  readonly kind: 'browse';
  readonly profile: ProfileQuery | null;
  /** Null where the profile alone is wanted. */
  readonly list: ListQuery | null;
  /** Names the list; equal lists have equal names. */
  readonly listKey: string;
  /** How many items a page has. */
  readonly limit: number;
  /** Which page is wanted, from 1; the pages before it are walked unless `position` is given. */
  readonly page: number;
  /** Where the page begins; null for the beginning of the list. */
  readonly position: ListPosition | null;
}

/** A page of a list: exactly as many items as were wanted, unless it is the last or `missing` says. */
export interface BrowseFound {
  readonly account: Account | null;
  /** Of replies, the post that they answer, where a source has sent it. */
  readonly answered?: Post | undefined;
  readonly items: readonly ListItem[];
  /** Where the next page begins; null at the end. */
  readonly next: ListPosition | null;
  readonly warnings: readonly string[];
  /** Whether a provider answered that is asked as the last resort only. */
  readonly degraded: boolean;
  /** Not empty where the source failed, or left a doubt whether there is more. */
  readonly missing: readonly 'items'[];
  /** When it was so, in milliseconds since the epoch; left out where that is now. */
  readonly asOfMs?: number;
}
