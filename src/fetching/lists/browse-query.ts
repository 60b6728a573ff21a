import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import type { Answers, ProfileQuery } from '../../model/queries.ts';

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

export type ListItem = Post | Account;

/** A place in a list: the content of a cursor. */
export interface ListPosition {
  /** The provider that the walk stays with; `null` if none has answered yet. */
  readonly provider: string | null;
  /** The provider's own cursor of the page with the next item; `null` for its first page. */
  readonly cursor: string | null;
  /** Number of items of that page that the walk has given. */
  readonly taken: number;
  /** The number of the next page of the walk, from 1. */
  readonly page: number;
  /** Number of pages in a row on which the walk has found nothing. */
  readonly fruitless: number;
  /** Marks of the items given last, oldest first (`given-items.ts`). Empty if pages never overlap. */
  readonly recent: readonly number[];
}

export const startOfList: ListPosition = {
  provider: null,
  cursor: null,
  taken: 0,
  page: 1,
  fruitless: 0,
  recent: [],
};

/** Asks for one page of a list, and for the profile that it belongs to. */
export interface BrowseQuery {
  readonly kind: 'browse';
  readonly profile: ProfileQuery | null;
  /** `null` if the profile alone is wanted. */
  readonly list: ListQuery | null;
  /** Names the list; equal lists have equal names. */
  readonly listKey: string;
  /** Number of items of a page. */
  readonly limit: number;
  /** The number of the page, from 1; the pages before it are walked unless `position` is given. */
  readonly page: number;
  /** The place where the page begins; `null` for the beginning of the list. */
  readonly position: ListPosition | null;
}

/** A page of a list: exactly as many items as were wanted, unless it is the last or `missing` is not empty. */
export interface BrowseFound {
  readonly account: Account | null;
  /** Of replies, the post that they answer, if a source has sent it. */
  readonly answered?: Post | undefined;
  readonly items: readonly ListItem[];
  /** The place where the next page begins; `null` at the end. */
  readonly next: ListPosition | null;
  readonly warnings: readonly string[];
  /** Whether a provider answered that is asked as the last resort only. */
  readonly degraded: boolean;
  /** Not empty if the source failed, or left a doubt whether there is more. */
  readonly missing: readonly 'items'[];
  /** The time of its state, in milliseconds since the epoch; left out if that is now. */
  readonly asOfMs?: number;
}
