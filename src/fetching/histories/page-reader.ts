import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import type { Post } from '../../model/post.ts';
import type { Page, PageSpan } from '../../model/queries.ts';

export interface PageReaderOptions {
  readonly ask: (place: PagePlace, signal: AbortSignal) => Promise<Page<Post>>;
  readonly clock: Clock;
  /** Returns the time after which pages are of no use, in milliseconds since the epoch. */
  readonly deadlineMs: () => number;
  readonly signal: AbortSignal;
}

export interface SteadyPage {
  readonly page: Page<Post>;
  /** False if it may lack posts all the same. */
  readonly isProved: boolean;
}

/** How often a page is tried again when the upstream fails, and how long after the first failure. */
const triesAgain = 2;
const firstWaitMs = 300;

const defaultPauseSeconds = 30;

/** Half of the least rows of a page, as long as no other was read: FxTwitter sends 20 to 40. */
const fewestRows = 10;

export type PageReader = ReturnType<typeof createPageReader>;

export function createPageReader(options: PageReaderOptions) {
  const { clock, signal } = options;
  let asked = 0;
  let throttles = 0;
  let pausedUntilMs = 0;
  let pages = 0;
  let rows = 0;
  const waitForPause = async () => {
    for (let ms = pausedUntilMs - clock.now(); ms > 0; ms = pausedUntilMs - clock.now()) {
      await clock.sleep(ms, signal);
    }
  };
  const pause = (problem: Problem): void => {
    const untilMs = clock.now() + (problem.retryAfterSeconds ?? defaultPauseSeconds) * 1000;
    if (untilMs >= options.deadlineMs()) throw problem;
    if (problem.code === throttled && clock.now() >= pausedUntilMs) throttles += 1;
    pausedUntilMs = Math.max(pausedUntilMs, untilMs);
  };
  const ask = async (place: PagePlace, failures = 0): Promise<Page<Post>> => {
    await waitForPause();
    asked += 1;
    try {
      return await options.ask(place, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isRateLimit(error)) {
        pause(error);
        return ask(place, failures);
      }
      if (!isOutage(error) || failures >= triesAgain) throw error;
      await clock.sleep(firstWaitMs * 2 ** failures, signal);
      return ask(place, failures + 1);
    }
  };
  return {
    /**
     * Returns a page as complete as it can be read. Pages wait together while the upstream throttles.
     * Calls `onDoubt` before a doubtful page is asked for again. Throws Problem, see ProviderChain.ask.
     */
    read: async (place: PagePlace, onDoubt?: (first: Page<Post>) => void): Promise<SteadyPage> => {
      const isGood = (page: Page<Post>) => {
        if (!isWhole(page, place)) return false;
        // Its last post can be on it twice, so that a page that was cut off there looks whole too.
        const half = pages === 0 ? 0 : rows / pages / 2;
        return page.span === undefined || rowsOf(page) >= Math.max(fewestRows, half);
      };
      const steady = await readSteadily(() => ask(place), { place, isGood, onDoubt });
      pages += 1;
      rows += rowsOf(steady.page);
      return steady;
    },
    get asked() {
      return asked;
    },
    get throttles() {
      return throttles;
    },
  };
}

const throttled = 'upstream_rate_limited';

function isRateLimit(error: unknown): error is Problem {
  return error instanceof Problem && (error.code === throttled || error.code === 'rate_limited');
}

function isOutage(error: unknown): boolean {
  return error instanceof Problem && /^upstream_(?:unavailable|error)$/.test(error.code);
}

/** How often a doubtful page is asked for again: once, then three times at once. */
const asksAgain = [1, 3] as const;

/** One answer in four can be short, so now and then five in a row are; so often it is asked for after them. */
const lastAsks = 4;

const mostAgreeing = 5; // so many answers that agree are believed, however few rows they have

interface Steadiness {
  readonly place: PagePlace;
  readonly isGood: (page: Page<Post>) => boolean;
  readonly onDoubt: ((first: Page<Post>) => void) | undefined;
}

/** Joins answers until one is good, two with rows agree, or it was asked often enough. */
async function readSteadily(
  ask: () => Promise<Page<Post>>,
  { place, isGood, onDoubt }: Steadiness,
): Promise<SteadyPage> {
  let page = await ask();
  /** Number of answers with as many rows as the fullest. */
  let agreeing = 1;
  let isSettled = isGood(page);
  if (!isSettled) onDoubt?.(page);
  const askAgain = async (times: number) => {
    for (const other of await Promise.all(Array.from({ length: times }, ask))) {
      const more = rowsOf(other) - rowsOf(page);
      if (more >= 0) agreeing = more === 0 ? agreeing + 1 : 1;
      page = join(page, other);
      isSettled ||= isGood(other);
    }
    isSettled ||= agreeing > 1 && page.isDoubtful !== true;
  };
  for (const times of asksAgain) if (!isSettled) await askAgain(times);
  // A page that goes on below a row that it does not have may be short.
  const isCut = page.span !== undefined && page.cursor !== null && !spanOf(page, place).isWhole;
  if (!isSettled && isCut) await askAgain(lastAsks);
  // The last page of a timeline, or one of deleted posts, looks like a short one time and again.
  const enough = page.cursor === null ? 2 : mostAgreeing;
  return { page, isProved: isSettled || agreeing >= enough };
}

function isWhole(page: Page<Post>, place: PagePlace): boolean {
  if (page.isExact === true) return true;
  const isEmptyBeforeEnd = page.items.length === 0 && rowsOf(page) === 0;
  return page.isDoubtful !== true && !isEmptyBeforeEnd && spanOf(page, place).isWhole;
}

/** Returns the fuller page, followed by the posts that only the other one has: the span tells their places. */
function join(one: Page<Post>, other: Page<Post>): Page<Post> {
  const [fuller, less] = rowsOf(other) > rowsOf(one) ? [other, one] : [one, other];
  const known = new Set(fuller.items.map(({ id }) => id));
  const missed = less.items.filter(({ id }) => !known.has(id));
  return missed.length === 0 ? fuller : { ...fuller, items: [...fuller.items, ...missed] };
}

export interface PagePlace {
  /** The provider's cursor; `null` if the timeline is entered by `untilSeconds`, or at the top. */
  readonly cursor: string | null;
  readonly untilSeconds: number | null;
}

/**
 * Returns the part of a timeline that a page covers, as its source tells. Otherwise it begins where it
 * was entered, and ends with the last post that has a time of its own; a repost has that of the
 * original.
 */
export function spanOf(page: Page<Post>, { cursor, untilSeconds }: PagePlace): PageSpan {
  // The first post of a list may be pinned and then is out of its place.
  const last = page.items.slice(1).findLast(hasOwnTime);
  // The last page of a timeline has all that there is.
  const isTold = last !== undefined && page.cursor !== null;
  const lastMs = isTold ? last.created_timestamp * 1000 + 999 : null;
  if (page.span !== undefined) return { ...page.span, toMs: page.span.toMs ?? lastMs };
  const isEntered = cursor === null && untilSeconds !== null && page.items.length > 0;
  return {
    fromMs: isEntered ? untilSeconds * 1000 : null,
    toMs: lastMs,
    isWhole: page.isExact === true || page.isDoubtful !== true,
  };
}

export function rowsOf({ rows, items }: Page<Post>): number {
  return rows ?? items.length;
}

/** Returns whether a post stands at the time that it carries. */
export function hasOwnTime(post: Post): post is Extract<Post, { type: 'status' }> {
  return post.type === 'status' && post.reposted_by === null;
}

/** Returns the second of the oldest post that stands in its place; infinite if there is none. */
export function oldestOf(posts: readonly Post[], { toMs }: PageSpan): number {
  const seconds = posts.filter(hasOwnTime).map((post) => post.created_timestamp);
  const inPlace = seconds.filter((second) => second * 1000 + 999 >= (toMs ?? 0));
  return Math.min(...inPlace, Number.POSITIVE_INFINITY);
}
