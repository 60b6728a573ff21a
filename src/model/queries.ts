import type { Account } from './account.ts';
import type { Post } from './post.ts';
import type { AccountReference, PostReference, SearchPlatform } from './reference.ts';
import type { Feed } from './results.ts';

export interface PostQuery {
  readonly kind: 'post';
  readonly post: PostReference;
  /**
   * Whether to read the ancestors of the post and the later posts of the author's thread. `whole`:
   * also all replies, from all servers that took part, if the platform has several.
   */
  readonly thread: boolean | 'whole';
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

/** Query for posts before `untilSeconds` (Unix seconds), newest first. `null`: no time limit. */
export interface TimelineQuery extends PageQuery {
  readonly kind: 'timeline';
  readonly account: AccountReference;
  readonly withReplies: boolean;
  readonly withReposts: boolean;
  /** Whether to omit posts without images, videos or audio. */
  readonly onlyMedia?: boolean;
  /** Whether only replies are wanted. Sources that cannot filter them return other posts too. */
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
  /** Unix milliseconds of the export or storage of archived content. Absent for live content. */
  readonly asOfMs?: number;
}

/** Post and conversation. `ancestors` and `continuation` (author's thread) are oldest first. */
export interface PostFound extends Dated {
  readonly ancestors: readonly Post[];
  readonly post: Post;
  readonly continuation: readonly Post[];
  /** Direct replies in the requested order, each followed by the replies to it. */
  readonly replies: readonly Post[];
  /** Requested parts that could not be read. `warnings` explains each. */
  readonly missing: readonly ('thread' | 'replies')[];
  readonly warnings: readonly string[];
}

export interface ProfileFound extends Dated {
  readonly account: Account;
  readonly warnings: readonly string[];
}

/** Time range of a timeline page, from which Perch reads other pages concurrently. */
export interface PageSpan {
  /** Newer end (exclusive) in Unix milliseconds; `null` if the page starts at the newest post. */
  readonly fromMs: number | null;
  /** Older end of the page's time range (inclusive), in Unix milliseconds; `null` if unknown. */
  readonly toMs: number | null;
  /** Whether the page contains all posts of its time range; `false` if some may be omitted. */
  readonly isWhole: boolean;
}

/** Page of a provider: may be short, empty or overlapping. `cursor` is `null` on the last. */
export interface Page<Item> extends Dated {
  readonly items: readonly Item[];
  readonly cursor: string | null;
  readonly warnings: readonly string[];
  /** Number of items that the source sent, before filtering. Default: `items.length`. */
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
