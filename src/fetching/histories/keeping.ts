import type { HistoryKeep, KeptPart } from '../../archive/histories/kept-histories.ts';
import type { Clock } from '../../core/clock.ts';
import type { Account } from '../../model/account.ts';
import { clipRanges, type SecondRange } from '../../platforms/second-ranges.ts';
import type { HistoryQuery } from './history-query.ts';
import { mayBeIn } from './ordering.ts';
import { hasOwnTime } from './page-span.ts';

const nothingKept: KeptPart = { ranges: [], posts: [] };

export interface KeepingOptions {
  readonly query: HistoryQuery;
  readonly source: {
    /** The profile; `null` until it is read. */
    readonly account: Account | null;
    /** Whether the archive answers; what it holds need not be kept again. */
    readonly isArchive: boolean;
  };
  readonly clock: Clock;
  readonly keep?: HistoryKeep | undefined;
  /** Called if the keep cannot be read or written; the import continues without it. */
  readonly onKeepFailure?: ((error: unknown) => void) | undefined;
}

/** Creates the access of one import to the histories that are kept. */
export function createKeeping({ query, source, keep, clock, onKeepFailure }: KeepingOptions) {
  const carefully = <Result>(use: () => Result, otherwise: Result): Result => {
    try {
      return use();
    } catch (error) {
      onKeepFailure?.(error);
      return otherwise;
    }
  };
  const timelineOf = ({ id }: Account) => {
    const { account, withReplies, withReposts } = query;
    return { account, accountId: id, withReplies, withReposts };
  };
  return {
    /** Returns what is kept. If something is, it first waits for the profile, which shows whether the account is public. */
    recall: async (reading: Promise<Account>): Promise<KeptPart> => {
      if (keep === undefined || !carefully(() => keep.holds(query.account), false)) {
        return nothingKept;
      }
      const account = await reading;
      if (account.protected) carefully(() => keep.drop(query.account), 0);
      if (!query.useKept || source.isArchive) return nothingKept;
      const range = secondsOf(query, clock.now());
      // A post that its author reposted has two rows.
      const limit = query.onlyReplies ? mostLooked : query.maxPosts * 2;
      const read = () => keep.read({ ...timelineOf(account), range, limit });
      return carefully(() => settleTop(read(), range.toSecond), nothingKept);
    },
    /** Keeps what was read; absent if histories are not kept. */
    store:
      keep &&
      (async (part: KeptPart): Promise<void> => {
        const { account } = source;
        if (account === null || account.protected || source.isArchive) return;
        if (part.ranges.length === 0) return;
        await keep
          .put({ ...timelineOf(account), ...part })
          .catch((error) => onKeepFailure?.(error));
      }),
  };
}

/** Maximum number of kept posts that are read if only the replies are wanted. */
const mostLooked = 20_000;

/** Returns the seconds that a query asks for at a moment. */
export function secondsOf(
  { sinceSeconds, untilSeconds }: HistoryQuery,
  nowMs: number,
): SecondRange {
  const now = Math.floor(nowMs / 1000);
  return {
    fromSecond: sinceSeconds ?? Number.NEGATIVE_INFINITY,
    toSecond: untilSeconds === null ? now : untilSeconds - 1,
  };
}

/** Cuts off the upper end if a repost there may have been made above the range: reading it again decides that. */
function settleTop({ ranges, posts }: KeptPart, toSecond: number): KeptPart {
  const below = posts
    .filter(({ post, second }) => !hasOwnTime(post) && second > toSecond)
    .map(({ belowSecond }) => belowSecond);
  if (below.length === 0) return { ranges, posts };
  const top = Math.min(...below) - 1;
  const sure = clipRanges(ranges, { fromSecond: Number.NEGATIVE_INFINITY, toSecond: top });
  return {
    ranges: sure,
    posts: posts.filter(
      (post) => post.second <= toSecond && sure.some((range) => mayBeIn(post, range)),
    ),
  };
}
