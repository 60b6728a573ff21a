import { toIsoSeconds } from '../../core/clock.ts';
import type { Problem } from '../../core/problem.ts';
import type { Account } from '../../model/account.ts';
import type { HistoryQuery, Sending } from './history-query.ts';
import type { PlacedPost } from './ordering.ts';
import type { TimeRange } from './time-range.ts';
import type { WalkEnd } from './walk.ts';

/** A range of time in Unix seconds: from `since` on and before `until`; null at an open end. */
export interface HistoryRange {
  readonly sinceSecond: number | null;
  readonly untilSecond: number | null;
}

/** What an import came to. */
export interface HistoryEnd {
  readonly count: number;
  /** How many of the posts were kept from earlier imports. */
  readonly keptCount: number;
  /** The places of the last and the first post, in Unix seconds; null where none is known. */
  readonly oldestSecond: number | null;
  readonly newestSecond: number | null;
  readonly isTruncated: boolean;
  readonly isFloorReached: boolean;
  /** The `until` that goes on where it was truncated; null where it was not, or nothing is known. */
  readonly nextUntilSecond: number | null;
  readonly gaps: readonly HistoryRange[];
  readonly uncertain: readonly HistoryRange[];
  readonly pages: number;
  readonly durationMs: number;
  readonly warnings: readonly string[];
  /** Why it ended before its end; null where it did not, or where only its time was over. */
  readonly failure: Problem | null;
}

/** The posts that were given, as far as their end tells of them. */
export interface Tally {
  readonly count: number;
  readonly newestSecond: number | null;
  readonly oldestSecond: number | null;
  /** How many of them were kept. */
  readonly keptCount: number;
  /** When these were fetched, in Unix seconds; null without any. */
  readonly stored: { readonly first: number; readonly last: number } | null;
}

/** Nothing was given yet. */
export const emptyTally: Tally = {
  count: 0,
  newestSecond: null,
  oldestSecond: null,
  keptCount: 0,
  stored: null,
};

/** Adds posts, which are in order, to what was given before them. */
export function addToTally(tally: Tally, posts: readonly PlacedPost[]): Tally {
  const seconds = posts.map(({ second }) => second).filter(Number.isFinite);
  const stored = posts.map((one) => one.stored).filter((second) => second !== null);
  return {
    keptCount: tally.keptCount + stored.length,
    stored: joinStored(tally.stored, stored),
    count: tally.count + posts.length,
    newestSecond: tally.newestSecond ?? seconds[0] ?? null,
    oldestSecond: seconds.at(-1) ?? tally.oldestSecond,
  };
}

function joinStored(known: Tally['stored'], stored: readonly number[]): Tally['stored'] {
  if (stored.length === 0) return known;
  const all = known === null ? stored : [known.first, known.last, ...stored];
  return { first: Math.min(...all), last: Math.max(...all) };
}

/** What is known of a walk when it is over. */
export interface EndFacts {
  readonly query: HistoryQuery;
  readonly account: Account | null;
  readonly walk: WalkEnd;
  readonly tally: Tally;
  /** Whether its time was over. */
  readonly isLate: boolean;
  readonly sending: Sending;
  readonly durationMs: number;
}

/** Tells what an import came to. Pure. */
export function toHistoryEnd(facts: EndFacts): HistoryEnd {
  const { query, walk, tally, isLate, sending, durationMs } = facts;
  const isFull = tally.count >= query.maxPosts;
  const isStopped = isLate || walk.failure !== null;
  const isTruncated = walk.isCut || walk.unread.length > 0;
  const gaps = isFull || !isStopped ? [] : walk.unread.map(toRange);
  const isShallow = isShallower(facts);
  const { stored, ...counts } = tally;
  const end = {
    ...counts,
    isTruncated,
    isFloorReached: !isTruncated && !isShallow,
    nextUntilSecond: isTruncated ? toNextUntil(tally, gaps) : null,
    gaps,
    uncertain: walk.uncertain.map(toRange),
    pages: walk.pages,
    durationMs,
    failure: isFull ? null : walk.failure,
  };
  const told = tellEnd(end, { isFull, isLate, isShallow, sending });
  return { ...end, warnings: [...walk.warnings, ...tellKept(tally), ...told] };
}

/** Likes were counted, and posts deleted, since then. */
function tellKept({ keptCount, stored }: Tally): readonly string[] {
  if (stored === null) return [];
  const [first, last] = [stored.first, stored.last].map((second) => toIsoSeconds(second * 1000));
  const posts = keptCount === 1 ? '1 post is' : `${keptCount} posts are`;
  const when = first === last ? `at ${first}` : `between ${first} and ${last}`;
  return [`${posts} from the archive, fetched ${when}; \`nocache=true\` asks the source anew.`];
}

function toRange({ topMs, bottomMs }: TimeRange): HistoryRange {
  return {
    sinceSecond: Number.isFinite(bottomMs) ? Math.floor(bottomMs / 1000) : null,
    untilSecond: Number.isFinite(topMs) ? Math.floor(topMs / 1000) + 1 : null,
  };
}

/** The next import has the last second once more, because not all of it may have been given. */
function toNextUntil({ newestSecond, oldestSecond }: Tally, gaps: readonly HistoryRange[]) {
  const [gap] = gaps;
  if (gap !== undefined) return gap.untilSecond;
  if (oldestSecond === null) return null;
  return newestSecond === oldestSecond ? oldestSecond : oldestSecond + 1;
}

/** An account that counts a quarter more posts than there were at the end of its timeline has others. */
function isShallower({ query, account, walk, tally }: EndFacts): boolean {
  const isWhole = query.sinceSeconds === null && query.untilSeconds === null;
  if (!walk.isAtEnd || !isWhole || !query.withReplies || !query.withReposts) return false;
  return (account?.statuses ?? 0) > tally.count * 1.25 + 20 && account?.platform !== 'sample';
}

type Told = Omit<HistoryEnd, 'warnings'>;

interface Circumstances {
  readonly isFull: boolean;
  readonly isLate: boolean;
  readonly isShallow: boolean;
  readonly sending: Sending;
}

function aboutStreams(sending: Sending): string {
  return sending === 'stream' ? '' : ' With `format=ndjson` it has more time.';
}

function tellEnd(
  end: Told,
  { isFull, isLate, isShallow, sending }: Circumstances,
): readonly string[] {
  const { nextUntilSecond: next, failure, gaps } = end;
  const goOn =
    next === null ? '' : ` Ask again with \`until=${toIsoSeconds(next * 1000)}\` to go on.`;
  if (isFull && end.isTruncated) {
    return [`There are older posts in the range than \`max_posts\` allows for.${goOn}`];
  }
  return [
    ...(failure === null ? [] : [`The source failed before all was read: ${failure.message}`]),
    ...(isLate && failure === null
      ? [`The time for one import was over before all was read.${aboutStreams(sending)}`]
      : []),
    ...(gaps.length === 0 ? [] : [`Posts are missing, ${tellRanges(gaps)}.${goOn}`]),
    ...(end.uncertain.length === 0
      ? []
      : [
          `The source sent short pages however often it was asked; posts may be missing, ${tellRanges(end.uncertain)}.`,
        ]),
    ...(isShallow
      ? [
          'The account counts more posts than its timeline shows; the source ends it before the first post.',
        ]
      : []),
  ];
}

function tellRanges(ranges: readonly HistoryRange[]): string {
  return ranges
    .slice(0, 5)
    .map(({ sinceSecond, untilSecond }) => {
      const since = sinceSecond === null ? 'the first post' : toIsoSeconds(sinceSecond * 1000);
      const until = untilSecond === null ? 'now' : toIsoSeconds(untilSecond * 1000);
      return `from ${since} until ${until}`;
    })
    .join(', ')
    .concat(ranges.length > 5 ? ' and in other ranges' : '');
}
