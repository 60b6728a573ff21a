import type { AccountReference } from '../../model/reference.ts';

/** Query for all posts of an account in a time range, newest first. */
export interface HistoryQuery {
  readonly account: AccountReference;
  /** Start of the time range in Unix seconds (inclusive); `null` for no limit. */
  readonly sinceSeconds: number | null;
  /** End of the time range in Unix seconds (exclusive); `null` for no limit. */
  readonly untilSeconds: number | null;
  readonly maxPosts: number;
  readonly withReplies: boolean;
  readonly withReposts: boolean;
  /** Whether to return only replies to other accounts. */
  readonly onlyReplies: boolean;
  /** Whether to reuse posts of earlier imports instead of requesting all from the upstream. */
  readonly useStored: boolean;
  /** Whether the caller needs only the ids and times of posts. */
  readonly isIndex: boolean;
}

/** Way of sending posts: as they arrive (`stream`), or all together at the end (`document`). */
export type Delivery = 'stream' | 'document';
