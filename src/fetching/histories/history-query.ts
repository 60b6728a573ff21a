import type { AccountReference } from '../../model/reference.ts';

/** Asks for all posts of an account in a range of time, newest first. */
export interface HistoryQuery {
  readonly account: AccountReference;
  /** Posts from this moment on, in Unix seconds; null for all from the first. */
  readonly sinceSeconds: number | null;
  /** Posts from before this moment, in Unix seconds; null for all until now. */
  readonly untilSeconds: number | null;
  /** The most posts that are given: the newest ones of the range. */
  readonly maxPosts: number;
  readonly withReplies: boolean;
  readonly withReposts: boolean;
  /** Leaves out all that `withReplies` does not add: what is left are the replies to others. */
  readonly onlyReplies: boolean;
  /** False asks the upstream for all of it, also for what is kept from an earlier import. */
  readonly useKept: boolean;
  /** Whether the ids and times of the posts are enough. */
  readonly isIndex: boolean;
}

/** `stream`: the posts are sent as they come. `document`: they are sent together, at the end. */
export type Sending = 'stream' | 'document';
