import type { AccountReference } from '../../model/reference.ts';

/** Query for all posts of an account in a time range, newest first. */
export interface HistoryQuery {
  readonly account: AccountReference;
  /** First Unix second of the range; `null` to start with the first post. */
  readonly sinceSeconds: number | null;
  /** First Unix second after the range; `null` to end with the newest post. */
  readonly untilSeconds: number | null;
  readonly maxPosts: number;
  readonly withReplies: boolean;
  readonly withReposts: boolean;
  /** Whether only replies to other accounts are requested. */
  readonly onlyReplies: boolean;
  /** Whether posts stored by earlier imports are reused. If false, all posts are requested from the upstream. */
  readonly useStored: boolean;
  /** Whether only ids and times of posts are needed. */
  readonly isIndex: boolean;
}

/** Way of sending posts: as they arrive (`stream`), or all together at the end (`document`). */
export type Delivery = 'stream' | 'document';
