import type { KeptPart } from '../../archive/histories/kept-histories.ts';
import type { Account } from '../../model/account.ts';
import { clipRanges, type SecondRange } from '../../platforms/second-ranges.ts';
import type { HistoryQuery } from './history-query.ts';
import type { ImporterOptions } from './import-history.ts';
import { mayBeIn } from './ordering.ts';
import { hasOwnTime } from './page-reader.ts';

const nothingKept: KeptPart = { ranges: [], posts: [] };

interface KeepingOptions extends Pick<ImporterOptions, 'clock' | 'keep' | 'onKeepFailure'> {
  readonly query: HistoryQuery;
  readonly source: { readonly account: Account | null; readonly isArchive: boolean };
}

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
      if (!keep || !carefully(() => keep.holds(query.account), false)) return nothingKept;
      const account = await reading;
      if (account.protected) carefully(() => keep.drop(query.account), 0);
      if (!query.useKept || source.isArchive) return nothingKept;
      const range = secondsOf(query, clock.now());
      // A post that its author reposted has two rows.
      const limit = query.onlyReplies ? mostLooked : query.maxPosts * 2;
      const read = () => keep.read({ ...timelineOf(account), range, limit });
      return carefully(() => settleTop(read(), range.toSecond), nothingKept);
    },
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

export function secondsOf(query: HistoryQuery, nowMs: number): SecondRange {
  const { sinceSeconds, untilSeconds } = query;
  const toSecond = untilSeconds === null ? Math.floor(nowMs / 1000) : untilSeconds - 1;
  return { fromSecond: sinceSeconds ?? Number.NEGATIVE_INFINITY, toSecond };
}

/** Cuts off the upper end if a repost there may have been made above the range: reading it again decides that. */
function settleTop({ ranges, posts }: KeptPart, toSecond: number): KeptPart {
  const below = posts
    .filter(({ post, second }) => !hasOwnTime(post) && second > toSecond)
    .map(({ belowSecond }) => belowSecond);
  if (below.length === 0) return { ranges, posts };
  const top = Math.min(...below) - 1;
  const sure = clipRanges(ranges, { fromSecond: Number.NEGATIVE_INFINITY, toSecond: top });
  const isSure = (post: KeptPart['posts'][number]) => sure.some((range) => mayBeIn(post, range));
  return { ranges: sure, posts: posts.filter((post) => post.second <= toSecond && isSure(post)) };
}
