import type { Account } from './account.ts';
import type { Post } from './post.ts';
import type { AccountReference, PostReference, SearchPlatform } from './reference.ts';
import type { Feed } from './results.ts';

export interface PostQuery {
  readonly kind: 'post';
  readonly post: PostReference;
  /** Whether ancestors and the author's continuation are wanted. */
  readonly thread: boolean;
  readonly replies: 'top' | 'recent' | 'off';
}

/** Asks for all answers to a post; `order` is that of the direct ones. */
export interface RepliesQuery extends PageQuery {
  readonly kind: 'replies';
  readonly post: PostReference;
  readonly order: 'top' | 'recent';
}

export interface ProfileQuery {
  readonly kind: 'profile';
  readonly account: AccountReference;
}

/** A walk through a list: `cursor` is the provider's own, `null` for the first page. */
interface PageQuery {
  readonly cursor: string | null;
  /** Rows that are wanted; a provider may return fewer or more. */
  readonly count: number;
}

/** Asks for an account's posts, newest first. `untilSeconds` leaves out those from then on. */
export interface TimelineQuery extends PageQuery {
  readonly kind: 'timeline';
  readonly account: AccountReference;
  readonly withReplies: boolean;
  readonly withReposts: boolean;
  /** True leaves out posts without a photo, video or sound of their own. */
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
  /** When it was so, in milliseconds since the epoch; left out where that is now. */
  readonly asOfMs?: number;
}

/** A post with its surroundings, each list oldest first except `replies`, which are ranked. */
export interface PostFound extends Dated {
  readonly ancestors: readonly Post[];
  readonly post: Post;
  readonly continuation: readonly Post[];
  /** Direct replies in the order asked for, each followed by the replies to it. */
  readonly replies: readonly Post[];
  /** Parts that are missing this time; `warnings` say so in sentences. */
  readonly missing: readonly ('thread' | 'replies')[];
  readonly warnings: readonly string[];
}

export interface ProfileFound extends Dated {
  readonly account: Account;
  readonly warnings: readonly string[];
}

/** The part of a timeline that a page covers, for histories, which read many pages at once. */
export interface PageSpan {
  /** The page begins right below this moment, in milliseconds since the epoch; null at the top. */
  readonly fromMs: number | null;
  /** Everything from there to this moment is on the page, in milliseconds since the epoch; `null` if not known. */
  readonly toMs: number | null;
  /** False where the source may have sent fewer rows than there are between them. */
  readonly isWhole: boolean;
}

/** A page of a provider's list, short or empty at times. `cursor` is `null` at the end. Pages may share items. */
export interface Page<Item> extends Dated {
  readonly items: readonly Item[];
  readonly cursor: string | null;
  readonly warnings: readonly string[];
  /** How many rows the source sent, where some of them are not among `items`. */
  readonly rows?: number;
  /** True if the source sends such a page now and then in place of a fuller one: a retry may help. */
  readonly isDoubtful?: boolean;
  /** True where pages never overlap and are never short or empty before the end. */
  readonly isExact?: boolean;
  /** Of a timeline, where the source tells by its cursors which part of it the page covers. */
  readonly span?: PageSpan;
  /** Of replies, the post that they answer, where the source sends it with them. */
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
