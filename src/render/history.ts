import { toIsoSeconds } from '../core/clock.ts';
import type { HistoryEnd, HistoryRange } from '../fetching/history/history-end.ts';
import type { Account } from '../model/account.ts';
import type {
  HistoryFormat,
  HistoryMeta,
  HistoryMetaLine,
  HistoryReply,
} from '../model/history.ts';
import type { Post } from '../model/post.ts';

/** The value of `Content-Type` for each format of a history. */
export const historyMediaTypes = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
} as const satisfies Record<HistoryFormat, string>;

/** What is known of a history before its first post. */
export interface HistoryAbout {
  /** As the account writes it where that is known. */
  readonly handle: string;
  readonly account: Account | null;
  readonly source: string;
  /** Milliseconds since the epoch. */
  readonly fetchedAtMs: number;
}

/** Gives a history as JSON text. */
export function renderHistoryJson(
  { handle, account, source, fetchedAtMs }: HistoryAbout,
  posts: readonly Post[],
  end: HistoryEnd,
): string {
  const reply: HistoryReply = {
    resource: 'history',
    handle,
    ...(account === null ? {} : { profile: account }),
    posts,
    meta: toMeta(end),
    warnings: end.warnings,
    source,
    fetched_at: toIsoSeconds(fetchedAtMs),
  };
  return JSON.stringify(reply);
}

/** Gives posts as lines of NDJSON. */
export function renderPostLines(posts: readonly Post[]): string {
  return posts.map((post) => `${JSON.stringify(post)}\n`).join('');
}

/** Gives what the last line of a stream says of it. */
export function toMetaLine(
  { source, fetchedAtMs }: HistoryAbout,
  end: HistoryEnd,
): HistoryMetaLine {
  const fetched_at = toIsoSeconds(fetchedAtMs);
  return { meta: { ...toMeta(end), warnings: end.warnings, source, fetched_at } };
}

function toMeta(end: HistoryEnd): HistoryMeta {
  return {
    count: end.count,
    from_archive: end.keptCount,
    oldest: toMoment(end.oldestSecond),
    newest: toMoment(end.newestSecond),
    truncated: end.isTruncated,
    floor_reached: end.isFloorReached,
    ...(end.nextUntilSecond === null
      ? {}
      : { next_until: toIsoSeconds(end.nextUntilSecond * 1000) }),
    gaps: end.gaps.map(toRange),
    uncertain: end.uncertain.map(toRange),
    pages: end.pages,
    duration_ms: end.durationMs,
  };
}

function toRange({ sinceSecond, untilSecond }: HistoryRange) {
  return { since: toMoment(sinceSecond), until: toMoment(untilSecond) };
}

function toMoment(second: number | null): string | null {
  return second === null ? null : toIsoSeconds(second * 1000);
}
