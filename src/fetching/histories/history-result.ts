import { toIsoSeconds } from '../../lib/clock.ts';
import type { Problem } from '../../lib/problem.ts';
import type { Account } from '../../model/account.ts';
import type { AccountReference } from '../../model/reference.ts';
import type { SecondRange } from '../../normalize/times.ts';
import type { PlacedPost } from './ordering.ts';
import type { HistoryReadResult } from './stream-history.ts';

/** Time range in Unix seconds: from `sinceSecond` to before `untilSecond`; `null` for no limit. */
export interface HistoryRange {
  readonly sinceSecond: number | null;
  readonly untilSecond: number | null;
}

interface Tally {
  readonly count: number;
  readonly storedCount: number;
  /** Time of the newest post in Unix seconds; `null` if unknown. */
  readonly newestSecond: number | null;
  readonly oldestSecond: number | null;
  /** Earliest and latest Unix second at which the archived posts were fetched; empty if none. */
  readonly stored: readonly number[];
}

export interface HistoryResult extends Omit<Tally, 'stored'> {
  readonly isTruncated: boolean;
  readonly isFloorReached: boolean;
  /** Parameter `until` to continue a truncated import; `null` if complete or unknown. */
  readonly nextUntilSecond: number | null;
  readonly gaps: readonly HistoryRange[];
  readonly uncertain: readonly HistoryRange[];
  readonly pages: number;
  readonly durationMs: number;
  readonly warnings: readonly string[];
  /** Failure that ended the import early; `null` if it was completed or reached its deadline. */
  readonly failure: Problem | null;
}

export const emptyTally: Tally = {
  count: 0,
  storedCount: 0,
  newestSecond: null,
  oldestSecond: null,
  stored: [],
};

export function addToTally(tally: Tally, posts: readonly PlacedPost[]): Tally {
  const seconds = posts.map(({ second }) => second).filter(Number.isFinite);
  const stored = posts.map((one) => one.stored).filter((second) => second !== null);
  const all = [...tally.stored, ...stored];
  return {
    count: tally.count + posts.length,
    storedCount: tally.storedCount + stored.length,
    newestSecond: tally.newestSecond ?? seconds[0] ?? null,
    oldestSecond: seconds.at(-1) ?? tally.oldestSecond,
    stored: all.length === 0 ? all : [Math.min(...all), Math.max(...all)],
  };
}

export interface ResultFacts {
  readonly query: HistoryQuery;
  readonly account: Account;
  readonly read: HistoryReadResult;
  readonly tally: Tally;
  readonly isLate: boolean;
  readonly delivery: Delivery;
  readonly durationMs: number;
}

export function toHistoryResult(facts: ResultFacts): HistoryResult {
  const { read, tally, isLate, durationMs } = facts;
  const isFull = tally.count >= facts.query.maxPosts;
  const isStopped = isLate || read.failure !== null;
  const isTruncated = read.isCut || read.unread.length > 0;
  const gaps = isFull || !isStopped ? [] : read.unread.map(toRange);
  const { stored, ...counts } = tally;
  const end = {
    ...counts,
    isTruncated,
    isFloorReached: !isTruncated && !endsTooEarly(facts),
    nextUntilSecond: isTruncated ? toNextUntil(tally, gaps) : null,
    gaps,
    uncertain: read.uncertain.map(toRange),
    pages: read.pages,
    durationMs,
    failure: isFull ? null : read.failure,
  };
  return {
    ...end,
    warnings: [...read.warnings, ...explainAge(tally), ...explainEnd(end, facts)],
  };
}

function explainAge({ storedCount, stored }: Tally): readonly string[] {
  if (storedCount === 0) return [];
  const [first, last] = stored.map((second) => toIsoSeconds(second * 1000));
  const posts = storedCount === 1 ? '1 post is' : `${storedCount} posts are`;
  const when = first === last ? `at ${first}` : `between ${first} and ${last}`;
  return [`${posts} from the archive, fetched ${when}. Use \`nocache=true\` to fetch them again.`];
}

function toRange({ fromSecond, toSecond }: SecondRange): HistoryRange {
  return {
    sinceSecond: Number.isFinite(fromSecond) ? fromSecond : null,
    untilSecond: Number.isFinite(toSecond) ? toSecond + 1 : null,
  };
}

function toNextUntil({ newestSecond, oldestSecond }: Tally, gaps: readonly HistoryRange[]) {
  const [gap] = gaps;
  if (gap !== undefined) return gap.untilSecond;
  if (oldestSecond === null) return null;
  return newestSecond === oldestSecond ? oldestSecond : oldestSecond + 1;
}

function endsTooEarly({ query, account, read, tally }: ResultFacts): boolean {
  const isWhole = query.sinceSeconds === null && query.untilSeconds === null;
  if (!read.isAtEnd || !isWhole || !query.withReplies || !query.withReposts) return false;
  return (account.statuses ?? 0) > tally.count * 1.25 + 20 && account.platform !== 'sample';
}

function explainEnd(end: Omit<HistoryResult, 'warnings'>, facts: ResultFacts): readonly string[] {
  const { nextUntilSecond: next, failure, gaps, uncertain } = end;
  const continueHint =
    next === null ? '' : ` Use \`until=${toIsoSeconds(next * 1000)}\` to continue.`;
  if (end.isTruncated && end.count >= facts.query.maxPosts) {
    return [`The range has more posts than \`max_posts\` allows.${continueHint}`];
  }
  const warnings: string[] = [];
  if (failure !== null) {
    warnings.push(`The source failed before all posts were read: ${failure.message}`);
  } else if (facts.isLate) {
    const moreTime = facts.delivery === 'stream' ? '' : ' Use `format=ndjson` for more time.';
    warnings.push(`The time for one import ran out before all posts were read.${moreTime}`);
  }
  if (gaps.length > 0) warnings.push(`Posts are missing, ${printRanges(gaps)}.${continueHint}`);
  if (uncertain.length > 0) {
    warnings.push(
      `The source kept returning short pages. Posts may be missing, ${printRanges(uncertain)}.`,
    );
  }
  if (endsTooEarly(facts)) {
    warnings.push(
      'The account has more posts than its timeline shows. The source ends the timeline before the first post.',
    );
  }
  return warnings;
}

function printRanges(ranges: readonly HistoryRange[]): string {
  const printed = ranges.slice(0, 5).map(({ sinceSecond, untilSecond }) => {
    const since = sinceSecond === null ? 'the first post' : toIsoSeconds(sinceSecond * 1000);
    const until = untilSecond === null ? 'now' : toIsoSeconds(untilSecond * 1000);
    return `from ${since} until ${until}`;
  });
  return printed.join(', ').concat(ranges.length > 5 ? ' and in other ranges' : '');
}

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
