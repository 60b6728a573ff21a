import type { Account } from './account.ts';
import type { Post } from './post.ts';
import type { AccountReference, PostReference, SearchPlatform } from './reference.ts';
import type { Feed } from './results.ts';

export interface PostQuery {
  readonly kind: 'post';
  readonly post: PostReference;
  /** Whether to read the ancestors and the continuation of the author's thread. */
  readonly thread: boolean;
  readonly replies: 'top' | 'recent' | 'off';
}

/** Query for all replies to a post. `order` applies to the direct replies. */
export interface RepliesQuery extends PageQuery {
  readonly kind: 'replies';
  readonly post: PostReference;
  readonly order: 'top' | 'recent';
}

export interface ProfileQuery {
  readonly kind: 'profile';
  readonly account: AccountReference;
}

/** Query for a page of a list. `cursor` is the provider's own cursor, `null` for the first page. */
interface PageQuery {
  readonly cursor: string | null;
  /** Desired number of rows. A provider may return fewer or more. */
  readonly count: number;
}

/** Query for an account's posts, newest first. `untilSeconds` is an exclusive upper bound of their times. */
export interface TimelineQuery extends PageQuery {
  readonly kind: 'timeline';
  readonly account: AccountReference;
  readonly withReplies: boolean;
  readonly withReposts: boolean;
  /** Whether to omit posts without own images, videos or audio. */
  readonly onlyMedia?: boolean;
  readonly untilSeconds: number | null;
}

export interface ConnectionsQuery extends PageQuery {
  readonly kind: 'followers' | 'following';
  readonly account: AccountReference;
}

export interface SearchQuery extends PageQuery {
  readonly kind: 'search';
  readonly platform: SearchPlatform;
  readonly text: string;
  readonly feed: Exclude<Feed, 'users'>;
  readonly sinceSeconds: number | null;
  readonly untilSeconds: number | null;
}

export interface UserSearchQuery extends PageQuery {
  readonly kind: 'searchUsers';
  readonly platform: SearchPlatform;
  readonly text: string;
}

interface Dated {
  /** Time at which stored content was current, in Unix milliseconds; absent for live content. */
  readonly asOfMs?: number;
}

/** Post with its conversation. `ancestors` and `continuation` are oldest first. */
export interface PostFound extends Dated {
  readonly ancestors: readonly Post[];
  readonly post: Post;
  readonly continuation: readonly Post[];
  /** Direct replies in the requested order, each followed by the replies to it. */
  readonly replies: readonly Post[];
  /** Requested parts that could not be read; `warnings` has a sentence for each. */
  readonly missing: readonly ('thread' | 'replies')[];
  readonly warnings: readonly string[];
}

export interface ProfileFound extends Dated {
  readonly account: Account;
  readonly warnings: readonly string[];
}

/** Part of a timeline that a page covers, for histories, which read many pages concurrently. */
export interface PageSpan {
  /** Exclusive upper end of the page in Unix milliseconds; `null` at the top of the timeline. */
  readonly fromMs: number | null;
  /** Lower end of the page in Unix milliseconds; `null` if unknown. */
  readonly toMs: number | null;
  /** Whether the page contains all rows between both ends; `false` if the source may have sent fewer. */
  readonly isWhole: boolean;
}

/** Page of a provider's list, which may be short or empty. `cursor` is `null` at the end. Pages may overlap. */
export interface Page<Item> extends Dated {
  readonly items: readonly Item[];
  readonly cursor: string | null;
  readonly warnings: readonly string[];
  /** Number of rows that the source sent, if some of them are not in `items`. */
  readonly rows?: number;
  /** Whether the source may have sent this page in place of a fuller page, so that a retry may help. */
  readonly isDoubtful?: boolean;
  /** Whether pages never overlap, and are never short or empty before the end. */
  readonly isExact?: boolean;
  /** Part of the timeline that the page covers, if the cursors of the source show it. */
  readonly span?: PageSpan;
  /** Post that the replies answer, if the source sends it with them. */
  readonly answered?: Post;
}

export interface Answers {
  post: { query: PostQuery; found: PostFound };
  replies: { query: RepliesQuery; found: Page<Post> };
  profile: { query: ProfileQuery; found: ProfileFound };
  timeline: { query: TimelineQuery; found: Page<Post> };
  followers: { query: ConnectionsQuery; found: Page<Account> };
  following: { query: ConnectionsQuery; found: Page<Account> };
  search: { query: SearchQuery; found: Page<Post> };
  searchUsers: { query: UserSearchQuery; found: Page<Account> };
}

export type QueryKind = keyof Answers;
export type Query = Answers[QueryKind]['query'];
