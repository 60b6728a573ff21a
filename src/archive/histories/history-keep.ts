import type { Post } from '../../model/post.ts';
import type { AccountReference, PostReference } from '../../model/reference.ts';
import type { SecondRange } from '../../platforms/second-ranges.ts';

/** A post of a timeline with its place. */
export interface KeptPost {
  readonly post: Post;
  /** The second that it stands at. A repost, whose own is not known, was made then or before. */
  readonly second: number;
  /** A repost was made then or after; minus infinity where that is not known. Else the same second. */
  readonly belowSecond: number;
  /** When it was fetched, in Unix seconds. */
  readonly stored: number;
}

/** Whose timeline is kept. */
export interface KeptTimeline {
  readonly account: AccountReference;
  /** The account's id: a handle can become another's. */
  readonly accountId: string;
  /** Whether the replies to others are among the posts. */
  readonly withReplies: boolean;
  /** Whether the reposts are. */
  readonly withReposts: boolean;
}

/** Asks for what is kept of a part of a timeline. */
export interface KeptQuery extends KeptTimeline {
  readonly range: SecondRange;
  /** The most posts that are given; what is older than those counts as not kept. */
  readonly limit: number;
}

/** What is kept of a part of a timeline. */
export interface KeptPart {
  /** What is kept as a whole, newest first; these do not touch. */
  readonly ranges: readonly SecondRange[];
  /** The posts that stand there, or may, newest first. */
  readonly posts: readonly KeptPost[];
}

/** Parts of a timeline that were fetched as a whole, with all that stands or may stand there. */
export interface FetchedPart extends KeptTimeline {
  readonly ranges: readonly SecondRange[];
  readonly posts: readonly KeptPost[];
}

/**
 * Keeps the timelines that were imported, so that they need not be fetched again. What it keeps answers
 * nothing but imports. Close it with `close()`.
 */
export interface HistoryKeep {
  /** Tells whether anything is kept of an account. */
  holds(account: AccountReference): boolean;
  /** Reads what was kept with the same posts or more. */
  read(query: KeptQuery): KeptPart;
  /** Takes the place of what was kept of these parts. */
  put(part: FetchedPart): Promise<void>;
  /** Forgets an account; gives how many posts were kept of it. */
  drop(account: AccountReference): number;
  /** Forgets a post, or an account and its posts, that a source says is gone, in every history. */
  dropGone(gone: PostReference | AccountReference): void;
  close(): void;
}
