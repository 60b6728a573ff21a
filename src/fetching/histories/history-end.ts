import { toIsoSeconds } from '../../core/clock.ts';
import type { Problem } from '../../core/problem.ts';
import type { Account } from '../../model/account.ts';
import type { SecondRange } from '../../platforms/second-ranges.ts';
import type { HistoryQuery, Sending } from './history-query.ts';
import type { PlacedPost } from './ordering.ts';
import type { WalkEnd } from './walk-history.ts';

/** A range of time in Unix seconds: from `since` on and before `until`; `null` at an open end. */
export interface HistoryRange {
  readonly sinceSecond: number | null;
  readonly untilSecond: number | null;
}

interface Tally {
  readonly count: number;
  readonly keptCount: number;
  /** The places of the first and the last post, in Unix seconds; `null` if none is known. */
  readonly newestSecond: number | null;
  readonly oldestSecond: number | null;
  /** When the kept posts were fetched, in Unix seconds. */
  readonly stored: readonly number[];
}

export interface HistoryEnd extends Omit<Tally, 'stored'> {
  readonly isTruncated: boolean;
  readonly isFloorReached: boolean;
  /** The `until` that continues a truncated import; `null` if it was not truncated, or nothing is known. */
  readonly nextUntilSecond: number | null;
  readonly gaps: readonly HistoryRange[];
  readonly uncertain: readonly HistoryRange[];
  readonly pages: number;
  readonly durationMs: number;
  readonly warnings: readonly string[];
  /** Why it ended early; `null` if it did not, or because its time was over. */
  readonly failure: Problem | null;
}

export const emptyTally: Tally = {
  count: 0,
  keptCount: 0,
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
    keptCount: tally.keptCount + stored.length,
    newestSecond: tally.newestSecond ?? seconds[0] ?? null,
    oldestSecond: seconds.at(-1) ?? tally.oldestSecond,
    stored: all.length === 0 ? all : [Math.min(...all), Math.max(...all)],
  };
}

export interface EndFacts {
  readonly query: HistoryQuery;
  readonly account: Account;
  readonly walk: WalkEnd;
  readonly tally: Tally;
  readonly isLate: boolean;
  readonly sending: Sending;
  readonly durationMs: number;
}

export function toHistoryEnd(facts: EndFacts): HistoryEnd {
  const { walk, tally, isLate, durationMs } = facts;
  const isFull = tally.count >= facts.query.maxPosts;
  const isStopped = isLate || walk.failure !== null;
  const isTruncated = walk.isCut || walk.unread.length > 0;
  const gaps = isFull || !isStopped ? [] : walk.unread.map(toRange);
  const { stored, ...counts } = tally;
  const end = {
    ...counts,
    isTruncated,
    isFloorReached: !isTruncated && !isShallower(facts),
    nextUntilSecond: isTruncated ? toNextUntil(tally, gaps) : null,
    gaps,
    uncertain: walk.uncertain.map(toRange),
    pages: walk.pages,
    durationMs,
    failure: isFull ? null : walk.failure,
  };
  return { ...end, warnings: [...walk.warnings, ...explainKept(tally), ...explainEnd(end, facts)] };
}

/** Likes were counted, and posts deleted, since the kept posts were fetched. */
function explainKept({ keptCount, stored }: Tally): readonly string[] {
  if (keptCount === 0) return [];
  const [first, last] = stored.map((second) => toIsoSeconds(second * 1000));
  const posts = keptCount === 1 ? '1 post is' : `${keptCount} posts are`;
  const when = first === last ? `at ${first}` : `between ${first} and ${last}`;
  return [`${posts} from the archive, fetched ${when}; \`nocache=true\` asks the source anew.`];
}

function toRange({ fromSecond, toSecond }: SecondRange): HistoryRange {
  return {
    sinceSecond: Number.isFinite(fromSecond) ? fromSecond : null,
    untilSecond: Number.isFinite(toSecond) ? toSecond + 1 : null,
  };
}

/** The next import includes the last second again, because not all its posts may have been sent. */
function toNextUntil({ newestSecond, oldestSecond }: Tally, gaps: readonly HistoryRange[]) {
  const [gap] = gaps;
  if (gap !== undefined) return gap.untilSecond;
  if (oldestSecond === null) return null;
  return newestSecond === oldestSecond ? oldestSecond : oldestSecond + 1;
}

/** Returns whether the source ended the timeline although the account counts at least a quarter more posts. */
function isShallower({ query, account, walk, tally }: EndFacts): boolean {
  const isWhole = query.sinceSeconds === null && query.untilSeconds === null;
  if (!walk.isAtEnd || !isWhole || !query.withReplies || !query.withReposts) return false;
  return (account.statuses ?? 0) > tally.count * 1.25 + 20 && account.platform !== 'sample';
}

function explainEnd(end: Omit<HistoryEnd, 'warnings'>, facts: EndFacts): readonly string[] {
  const { nextUntilSecond: next, failure, gaps, uncertain } = end;
  const goOn =
    next === null ? '' : ` Ask again with \`until=${toIsoSeconds(next * 1000)}\` to go on.`;
  if (end.isTruncated && end.count >= facts.query.maxPosts) {
    return [`There are older posts in the range than \`max_posts\` allows for.${goOn}`];
  }
  const warnings: string[] = [];
  if (failure !== null) {
    warnings.push(`The source failed before all was read: ${failure.message}`);
  } else if (facts.isLate) {
    const moreTime = facts.sending === 'stream' ? '' : ' With `format=ndjson` it has more time.';
    warnings.push(`The time for one import was over before all was read.${moreTime}`);
  }
  if (gaps.length > 0) {
    warnings.push(`Posts are missing, ${printRanges(gaps)}.${goOn}`);
  }
  if (uncertain.length > 0) {
    warnings.push(
      `The source sent short pages however often it was asked; posts may be missing, ${printRanges(uncertain)}.`,
    );
  }
  if (isShallower(facts)) {
    warnings.push(
      'The account counts more posts than its timeline shows; the source ends it before the first post.',
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
