import type { KeptPart, KeptPost } from '../../archive/histories/history-keep.ts';
import type { Clock } from '../../core/clock.ts';
import type { Problem } from '../../core/problem.ts';
import type { SecondRange } from '../../platforms/second-ranges.ts';
import type { AccountPace } from './density.ts';
import type { HistoryQuery } from './history-query.ts';
import type { PageReaderOptions } from './page-reader.ts';
import type { TimeRange } from './time-range.ts';

/** What a walk needs. */
export interface WalkOptions extends PageReaderOptions {
  readonly query: HistoryQuery;
  readonly clock: Clock;
  /** The most pages that are asked for at once. */
  readonly concurrency: number;
  /** What is told of the account as a whole. */
  readonly pace: Promise<AccountPace>;
  /** What is not asked for, because it is kept from an earlier import. */
  readonly kept: KeptPart;
  /** Told once what was read, when the walk is over or left. */
  readonly onWalked?: ((walked: Walked) => Promise<void>) | undefined;
}

/** What a walk has read, beside what was kept. */
export interface Walked {
  /** What was read as a whole, newest first, without what is too young to be settled. */
  readonly ranges: readonly SecondRange[];
  /** What stands there. */
  readonly posts: readonly KeptPost[];
}

/** What a walk came to. */
export interface WalkEnd {
  /** What was not read, newest first: all that is older, where as many were found as are wanted. */
  readonly unread: readonly TimeRange[];
  /** What may lack posts, because its pages were short however often they were asked for. */
  readonly uncertain: readonly TimeRange[];
  /** Whether posts were found that are not given, because as many were as are wanted. */
  readonly isCut: boolean;
  /** Whether the source ended the timeline, rather than the range. */
  readonly isAtEnd: boolean;
  /** Why it ended before its end; null where it did not, or was interrupted. */
  readonly failure: Problem | null;
  readonly pages: number;
  readonly warnings: readonly string[];
}
