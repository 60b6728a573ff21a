import type { HistoryKeep, KeptPart, KeptTimeline } from '../../archive/histories/history-keep.ts';
import type { Account } from '../../model/account.ts';
import { clipRanges, type SecondRange } from '../../platforms/second-ranges.ts';
import type { HistoryQuery } from './history-query.ts';
import { hasOwnTime } from './page-span.ts';

/** Nothing is kept. */
export const nothingKept: KeptPart = { ranges: [], posts: [] };

/** Gives what of the range of a query is asked for at a moment, in seconds. */
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

/** Gives what a query finds of a timeline, all replies included: they are chosen from what was fetched. */
export function timelineOf(query: HistoryQuery, { id }: Account): KeptTimeline {
  const { account, withReplies, withReposts } = query;
  return { account, accountId: id, withReplies, withReposts };
}

/** Of posts that are kept, so many are looked at where only the replies are wanted. */
const mostLooked = 20_000;

/** Reads what is kept of the range of a query. */
export function readKept(
  keep: Pick<HistoryKeep, 'read'>,
  query: HistoryQuery,
  { account, nowMs }: { readonly account: Account; readonly nowMs: number },
): KeptPart {
  const range = secondsOf(query, nowMs);
  // A post that its author reposted has two rows.
  const limit = query.onlyReplies ? mostLooked : query.maxPosts * 2;
  return settleTop(keep.read({ ...timelineOf(query, account), range, limit }), range.toSecond);
}

/**
 * Takes off the upper end where a repost stands of which it is not known whether it was made in the range:
 * whoever reads the timeline from there on finds out.
 */
function settleTop({ ranges, posts }: KeptPart, toSecond: number): KeptPart {
  const below = posts
    .filter(({ post, second }) => !hasOwnTime(post) && second > toSecond)
    .map(({ belowSecond }) => belowSecond);
  if (below.length === 0) return { ranges, posts };
  const least = Math.min(...below);
  const sure = clipRanges(ranges, {
    fromSecond: Number.NEGATIVE_INFINITY,
    toSecond: least - 1,
  });
  const isSure = (second: number, belowSecond: number) =>
    sure.some((range) => second >= range.fromSecond && belowSecond <= range.toSecond);
  return {
    ranges: sure,
    posts: posts.filter(
      ({ second, belowSecond }) => second <= toSecond && isSure(second, belowSecond),
    ),
  };
}
