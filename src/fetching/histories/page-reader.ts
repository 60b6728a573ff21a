import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import type { Post } from '../../model/post.ts';
import type { Page, PageSpan } from '../../model/queries.ts';

export interface PageReaderOptions {
  readonly ask: (place: PagePlace, signal: AbortSignal) => Promise<Page<Post>>;
  readonly clock: Clock;
  /** Returns the deadline in epoch ms. A read fails if a rate limit requires a longer wait. */
  readonly deadlineMs: () => number;
  readonly signal: AbortSignal;
}

export interface CheckedPage {
  readonly page: Page<Post>;
  /** Whether the page is considered complete. If false, posts may be missing despite retries. */
  readonly isVerified: boolean;
}

const maxRetries = 2;
const firstWaitMs = 300;
const defaultPauseSeconds = 30;

const fewestRows = 10;

interface ReadOptions {
  /** Whether to accept an empty last page at once, because other requests also read its time. */
  readonly isProbe?: boolean;
  /** Called with the first response if it looks incomplete, before the page is requested again. */
  readonly onDoubt?: (first: Page<Post>) => void;
}

export type PageReader = ReturnType<typeof createPageReader>;

export function createPageReader(options: PageReaderOptions) {
  const { clock, signal } = options;
  let requests = 0;
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
    requests += 1;
    try {
      return await options.ask(place, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isRateLimit(error)) {
        pause(error);
        return ask(place, failures);
      }
      if (!isOutage(error) || failures >= maxRetries) throw error;
      await clock.sleep(firstWaitMs * 2 ** failures, signal);
      return ask(place, failures + 1);
    }
  };
  // The last post can be on a page twice, so a truncated page can look complete.
  const isLongEnough = (page: Page<Post>): boolean => {
    const half = pages === 0 ? 0 : rows / pages / 2;
    return page.span === undefined || rowsOf(page) >= Math.max(fewestRows, half);
  };
  return {
    /** Reads a page, again if it looks incomplete. Waits for rate limits. @throws Problem */
    read: async (place: PagePlace, options: ReadOptions = {}): Promise<CheckedPage> => {
      const { isProbe = false, onDoubt } = options;
      const isGood = (page: Page<Post>) =>
        (isProbe && isEmptyEnd(page)) || (isWhole(page, place) && isLongEnough(page));
      const verified = await readUntilVerified(() => ask(place), { place, isGood, onDoubt });
      if (rowsOf(verified.page) > 0) pages += 1;
      rows += rowsOf(verified.page);
      return verified;
    },
    get requests() {
      return requests;
    },
    get throttles() {
      return throttles;
    },
  };
}

const throttled = 'upstream_rate_limited';

const isRateLimit = (error: unknown): error is Problem =>
  error instanceof Problem && (error.code === throttled || error.code === 'rate_limited');

const isOutage = (error: unknown): boolean =>
  error instanceof Problem && /^upstream_(?:unavailable|error)$/.test(error.code);

const repeatCounts = [1, 3] as const;

const lastRepeats = 4;

const enoughAgreeing = 5; // this many responses with equally many rows are accepted

interface VerifyOptions {
  readonly place: PagePlace;
  readonly isGood: (page: Page<Post>) => boolean;
  readonly onDoubt: ((first: Page<Post>) => void) | undefined;
}

async function readUntilVerified(
  ask: () => Promise<Page<Post>>,
  { place, isGood, onDoubt }: VerifyOptions,
): Promise<CheckedPage> {
  let page = await ask();
  let agreeing = 1;
  let isAccepted = isGood(page);
  if (!isAccepted) onDoubt?.(page);
  const repeat = async (times: number) => {
    for (const other of await Promise.all(Array.from({ length: times }, ask))) {
      const more = rowsOf(other) - rowsOf(page);
      if (more >= 0) agreeing = more === 0 ? agreeing + 1 : 1;
      page = join(page, other);
      isAccepted ||= isGood(other);
    }
    isAccepted ||= agreeing > 1 && page.isDoubtful !== true;
  };
  for (const times of repeatCounts) if (!isAccepted) await repeat(times);
  // A page may be truncated if it lacks the last row of the previous page, from which its cursor
  // continues.
  const isCut = page.span !== undefined && page.cursor !== null && !spanOf(page, place).isWhole;
  if (!isAccepted && isCut) await repeat(lastRepeats);
  // The last page of a timeline, or a page of deleted posts, looks truncated every time.
  const enough = page.cursor === null ? 2 : enoughAgreeing;
  return { page, isVerified: isAccepted || agreeing >= enough };
}

function isWhole(page: Page<Post>, place: PagePlace): boolean {
  if (page.isExact === true) return true;
  const isEmptyBeforeEnd = page.items.length === 0 && rowsOf(page) === 0;
  return page.isDoubtful !== true && !isEmptyBeforeEnd && spanOf(page, place).isWhole;
}

function join(one: Page<Post>, other: Page<Post>): Page<Post> {
  const [fuller, less] = rowsOf(other) > rowsOf(one) ? [other, one] : [one, other];
  const known = new Set(fuller.items.map(({ id }) => id));
  const missed = less.items.filter(({ id }) => !known.has(id));
  return missed.length === 0 ? fuller : { ...fuller, items: [...fuller.items, ...missed] };
}

export interface PagePlace {
  /** Provider's cursor. If `null`, starts at `untilSeconds`; if both are, at the newest post. */
  readonly cursor: string | null;
  readonly untilSeconds: number | null;
}

/** Returns the reported span, else that from the requested time to the oldest post (no repost). */
export function spanOf(page: Page<Post>, { cursor, untilSeconds }: PagePlace): PageSpan {
  // The first post can be pinned and then is out of order.
  const last = page.items.slice(1).findLast(hasOwnTime);
  // The last page covers the rest of the timeline.
  const hasLastTime = last !== undefined && page.cursor !== null;
  const lastMs = hasLastTime ? last.created_timestamp * 1000 + 999 : null;
  if (page.span !== undefined) return { ...page.span, toMs: page.span.toMs ?? lastMs };
  const isEntered = cursor === null && untilSeconds !== null && page.items.length > 0;
  return {
    fromMs: isEntered ? untilSeconds * 1000 : null,
    toMs: lastMs,
    isWhole: page.isExact === true || page.isDoubtful !== true,
  };
}

/** Returns whether the source ignored the requested time and sent the page of another time. */
export const isSeekIgnored = (place: PagePlace, { fromMs }: PageSpan): boolean =>
  place.cursor === null && place.untilSeconds !== null && fromMs === null;

/** Returns whether the source can seek: it reported a span, or sent posts for a requested time. */
export function provesSeek(page: Page<Post>, place: PagePlace): boolean {
  const span = spanOf(page, place);
  if (isSeekIgnored(place, span)) return false;
  return page.span !== undefined || (place.cursor === null && span.fromMs !== null);
}

/** Returns whether a page is empty and the last, as for requests beyond the oldest post. */
export const isEmptyEnd = (page: Page<Post>): boolean => page.cursor === null && rowsOf(page) === 0;

export const rowsOf = ({ rows, items }: Page<Post>): number => rows ?? items.length;

/** Returns whether a post's time is its timeline time, unlike that of reposts and placeholders. */
export const hasOwnTime = (post: Post): post is Extract<Post, { type: 'status' }> =>
  post.type === 'status' && post.reposted_by === null;

/** Returns the oldest Unix second, or `Infinity`. Ignores reposts, and posts before the span. */
export function oldestOf(posts: readonly Post[], { toMs }: PageSpan): number {
  const seconds = posts.filter(hasOwnTime).map((post) => post.created_timestamp);
  const inPlace = seconds.filter((second) => second * 1000 + 999 >= (toMs ?? 0));
  return Math.min(...inPlace, Number.POSITIVE_INFINITY);
}
