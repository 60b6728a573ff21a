import type { AccountReference } from '../../model/reference.ts';

/** Asks for all posts of an account in a range of time, newest first. */
export interface HistoryQuery {
  readonly account: AccountReference;
  /** The first second of the range; `null` for all from the first post. */
  readonly sinceSeconds: number | null;
  /** The first second after the range; `null` for all until now. */
  readonly untilSeconds: number | null;
  readonly maxPosts: number;
  readonly withReplies: boolean;
  readonly withReposts: boolean;
  /** Leaves out everything but the replies to others. */
  readonly onlyReplies: boolean;
  /** False asks the upstream for everything, also for what an earlier import kept. */
  readonly useKept: boolean;
  /** Whether the ids and times of the posts are enough. */
  readonly isIndex: boolean;
}

/** `stream`: the posts are sent as they come. `document`: they are sent together, at the end. */
export type Sending = 'stream' | 'document';
