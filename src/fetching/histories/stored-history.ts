import type { StoredPart } from '../../archive/histories/history-store.ts';
import type { Account } from '../../model/account.ts';
import { clipRanges, type SecondRange, subtractRanges } from '../../normalize/times.ts';
import type { HistoryQuery } from './history-result.ts';
import type { ImporterOptions } from './import-history.ts';
import { mayBeIn } from './ordering.ts';
import { hasOwnTime } from './page-reader.ts';
import type { TimeRange } from './range-planner.ts';

const nothingStored: StoredPart = { ranges: [], posts: [] };

interface StoredHistoryOptions
  extends Pick<ImporterOptions, 'clock' | 'historyStore' | 'onStoreFailure'> {
  readonly query: HistoryQuery;
  readonly source: { readonly account: Account | null; readonly isArchive: boolean };
}

/** Opens the stored posts of a timeline. Errors of the store are reported, not thrown. */
export function createStoredHistory(options: StoredHistoryOptions) {
  const { query, source, historyStore, clock, onStoreFailure } = options;
  const tryStore = <Result>(use: () => Result, fallback: Result): Result => {
    try {
      return use();
    } catch (error) {
      onStoreFailure?.(error);
      return fallback;
    }
  };
  const timelineOf = ({ id }: Account) => {
    const { account, withReplies, withReposts } = query;
    return { account, accountId: id, withReplies, withReposts };
  };
  return {
    /** Returns the stored posts. If the account is protected, deletes them and returns none. */
    read: async (reading: Promise<Account>): Promise<StoredPart> => {
      if (!historyStore || !tryStore(() => historyStore.has(query.account), false))
        return nothingStored;
      const account = await reading;
      if (account.protected) tryStore(() => historyStore.delete(query.account), 0);
      if (account.protected || !query.useStored || source.isArchive) return nothingStored;
      const range = secondsOf(query, clock.now());
      // A post that its own author reposted has two rows.
      const limit = query.onlyReplies ? maxPostsForReplies : query.maxPosts * 2;
      const read = () => historyStore.read({ ...timelineOf(account), range, limit });
      return tryStore(() => trimUnresolvedTop(read(), range.toSecond), nothingStored);
    },
    write:
      historyStore &&
      (async (part: StoredPart): Promise<void> => {
        const { account } = source;
        if (account === null || account.protected || source.isArchive) return;
        if (part.ranges.length === 0) return;
        await historyStore
          .put({ ...timelineOf(account), ...part })
          .catch((error) => onStoreFailure?.(error));
      }),
  };
}

const maxPostsForReplies = 20_000; // stored posts to read if only replies are requested

export function secondsOf(query: HistoryQuery, nowMs: number): SecondRange {
  const { sinceSeconds, untilSeconds } = query;
  const toSecond = untilSeconds === null ? Math.floor(nowMs / 1000) : untilSeconds - 1;
  return { fromSecond: sinceSeconds ?? Number.NEGATIVE_INFINITY, toSecond };
}

/** Returns the parts of the requested time range that `stored` does not cover. */
export function toUnreadRanges(
  query: HistoryQuery,
  stored: StoredPart,
  nowMs: number,
): readonly TimeRange[] {
  const topMs = query.untilSeconds === null ? nowMs : query.untilSeconds * 1000 - 1;
  return subtractRanges(secondsOf(query, nowMs), stored.ranges).map(({ fromSecond, toSecond }) => ({
    topMs: Math.min(toSecond * 1000 + 999, topMs),
    bottomMs: fromSecond * 1000,
  }));
}

function trimUnresolvedTop({ ranges, posts }: StoredPart, toSecond: number): StoredPart {
  const below = posts
    .filter(({ post, second }) => !hasOwnTime(post) && second > toSecond)
    .map(({ belowSecond }) => belowSecond);
  if (below.length === 0) return { ranges, posts };
  const top = Math.min(...below) - 1;
  const sure = clipRanges(ranges, { fromSecond: Number.NEGATIVE_INFINITY, toSecond: top });
  const isSure = (post: StoredPart['posts'][number]) => sure.some((range) => mayBeIn(post, range));
  return { ranges: sure, posts: posts.filter((post) => post.second <= toSecond && isSure(post)) };
}
