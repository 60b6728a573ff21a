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

/** The parts of a history as a JSON document, in their order. */
export interface HistoryDocument {
  /** Renders all before the posts. */
  begin(about: HistoryAbout): string;
  /** Renders the next posts. */
  add(posts: readonly Post[]): string;
  /** Renders all after the posts. */
  end(about: HistoryAbout, end: HistoryEnd): string;
}

/** Creates the writer of one JSON document, a `HistoryReply`. */
export function createHistoryDocument(): HistoryDocument {
  let isFirst = true;
  return {
    begin: ({ handle, account }) => {
      const head: Pick<HistoryReply, 'resource' | 'handle' | 'profile'> = {
        resource: 'history',
        handle,
        ...(account === null ? {} : { profile: account }),
      };
      return `${JSON.stringify(head).slice(0, -1)},"posts":[`;
    },
    add: (posts) => {
      const text = posts.map((post) => JSON.stringify(post)).join(',');
      const comma = isFirst || text === '' ? '' : ',';
      if (text !== '') isFirst = false;
      return comma + text;
    },
    end: ({ source, fetchedAtMs }, end) => {
      const tail: Omit<HistoryReply, 'resource' | 'handle' | 'profile' | 'posts'> = {
        meta: toMeta(end),
        warnings: end.warnings,
        source,
        fetched_at: toIsoSeconds(fetchedAtMs),
      };
      return `],${JSON.stringify(tail).slice(1)}`;
    },
  };
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
