import type { Account } from './account.ts';
import type { Post } from './post.ts';
import type { AccountReference, PostReference, SearchPlatform } from './reference.ts';
import type { Feed } from './results.ts';

export interface PostQuery {
  readonly kind: 'post';
  readonly post: PostReference;
  /** Whether to read the ancestors of the post and the later posts of the author's thread. */
  readonly thread: boolean;
  readonly replies: 'top' | 'recent' | 'off';
}

/** Query for a page of the replies to a post. `order` is the order of the direct replies. */
export interface RepliesQuery extends PageQuery {
  readonly kind: 'replies';
  readonly post: PostReference;
  readonly order: 'top' | 'recent';
}

export interface ProfileQuery {
  readonly kind: 'profile';
  readonly account: AccountReference;
}

interface PageQuery {
  readonly cursor: string | null;
  /** Desired number of posts or accounts on the page. The provider may return fewer or more. */
  readonly count: number;
}

/**
 * Query for the posts of an account that are older than `untilSeconds` (Unix seconds), newest
 * first. If `untilSeconds` is `null`, the query has no time limit.
 */
export interface TimelineQuery extends PageQuery {
  readonly kind: 'timeline';
  readonly account: AccountReference;
  readonly withReplies: boolean;
  readonly withReposts: boolean;
  /** Whether to omit posts without images, videos or audio. */
  readonly onlyMedia?: boolean;
  /**
   * Whether only replies to other accounts are wanted. Sources that cannot filter them return other posts too.
   */
  readonly onlyReplies?: boolean;
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
  /**
   * Unix time in milliseconds of the export that contains the archived content, or at which Perch stored the content if
   * it comes from no export. Absent for live content.
   */
  readonly asOfMs?: number;
}

/** Post with its conversation. `ancestors` and `continuation` (later posts of the author's thread) are oldest first. */
export interface PostFound extends Dated {
  readonly ancestors: readonly Post[];
  readonly post: Post;
  readonly continuation: readonly Post[];
  /** Direct replies to the post, in the requested order. Each direct reply is followed by the replies to that reply. */
  readonly replies: readonly Post[];
  /** Requested parts of the conversation that could not be read. `warnings` explains each missing part. */
  readonly missing: readonly ('thread' | 'replies')[];
  readonly warnings: readonly string[];
}

export interface ProfileFound extends Dated {
  readonly account: Account;
  readonly warnings: readonly string[];
}

/** Time range that a received timeline page covers. Perch uses it to read other pages of the timeline concurrently. */
export interface PageSpan {
  /**
   * Newer end of the page's time range (exclusive), in Unix milliseconds; `null` if the page starts
   * at the newest post.
   */
  readonly fromMs: number | null;
  /** Older end of the page's time range (inclusive), in Unix milliseconds; `null` if unknown. */
  readonly toMs: number | null;
  /** Whether the page contains all posts of its time range. `false` if the source may have omitted posts. */
  readonly isWhole: boolean;
}

/** Page of a list from a provider. Pages can be short, empty or overlapping. `cursor` is `null` on the last page. */
export interface Page<Item> extends Dated {
  readonly items: readonly Item[];
  readonly cursor: string | null;
  readonly warnings: readonly string[];
  /** Number of posts or accounts that the source sent, before filtering. Default: the length of `items`. */
  readonly rows?: number;
  /** Whether the page is suspiciously short, so that a retry may return more items. */
  readonly isDoubtful?: boolean;
  /** Whether the pages of the list never overlap, and all pages except the last are full. */
  readonly isExact?: boolean;
  /** Time range that the page covers, if the cursors of the source contain times. */
  readonly span?: PageSpan;
  /** Post whose replies are on the page, if the source sends that post with the replies. */
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
