import { toIsoSeconds } from '../core/clock.ts';
import type { HistoryQuery } from '../fetching/histories/history-query.ts';
import type { HistoryRange, HistoryResult } from '../fetching/histories/history-result.ts';
import type { PlacedPost } from '../fetching/histories/ordering.ts';
import type { Account } from '../model/account.ts';
import type {
  HistoryFormat,
  HistoryIndexEntry,
  HistoryMeta,
  HistoryMetaLine,
  HistoryPostLine,
  HistoryReply,
} from '../model/history.ts';

/** The value of `Content-Type` for each format of a history. */
export const historyMediaTypes = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
} as const satisfies Record<HistoryFormat, string>;

export interface HistoryAbout {
  readonly handle: string;
  readonly account: Account | null;
  readonly query: HistoryQuery;
  readonly source: string;
  readonly fetchedAtMs: number;
}

/** Creates the writer of one JSON document, a `HistoryReply`: its beginning, posts as they come, its end. */
export function createHistoryDocument(about: HistoryAbout) {
  let comma = '';
  return {
    begin: (): string => {
      const { handle, account: profile } = about;
      const head = { resource: 'history', handle, ...(profile && { profile }) };
      return `${JSON.stringify(head).slice(0, -1)},"posts":[`;
    },
    add: (placed: readonly PlacedPost[]): string => {
      const posts = toWirePosts(about, placed).map((post) => JSON.stringify(post));
      if (posts.length === 0) return '';
      const text = `${comma}${posts.join(',')}`;
      comma = ',';
      return text;
    },
    end: (end: HistoryResult): string => {
      const tail: Partial<HistoryReply> = { meta: toMeta(about, end), ...toAbout(about, end) };
      return `],${JSON.stringify(tail).slice(1)}`;
    },
  };
}

export function renderPostLines(about: HistoryAbout, placed: readonly PlacedPost[]): string {
  const lines: HistoryPostLine[] = toWirePosts(about, placed).map((post) => ({ post }));
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function toWirePosts(
  { query }: HistoryAbout,
  placed: readonly PlacedPost[],
): readonly HistoryPostLine['post'][] {
  return query.isIndex ? placed.flatMap(toIndexEntry) : placed.map(({ post }) => post);
}

/** A tombstone has no time, so an index has none. */
function toIndexEntry({ post }: PlacedPost): readonly HistoryIndexEntry[] {
  if (post.type === 'tombstone') return [];
  const { id, url, created_at, created_timestamp, reposted_by } = post;
  return [{ id, url, created_at, created_timestamp, repost: reposted_by !== null }];
}

export function toMetaLine(about: HistoryAbout, end: HistoryResult): HistoryMetaLine {
  return { meta: { ...toMeta(about, end), ...toAbout(about, end) } };
}

function toAbout({ source, fetchedAtMs }: HistoryAbout, { warnings }: HistoryResult) {
  return { warnings, source, fetched_at: toIsoSeconds(fetchedAtMs) };
}

function toMeta({ handle, query }: HistoryAbout, end: HistoryResult): HistoryMeta {
  const next_until = toMoment(end.nextUntilSecond);
  return {
    handle,
    since: toMoment(query.sinceSeconds),
    until: toMoment(query.untilSeconds),
    max_posts: query.maxPosts,
    with_replies: query.withReplies,
    with_reposts: query.withReposts,
    only_replies: query.onlyReplies,
    index: query.isIndex,
    nocache: !query.useStored,
    count: end.count,
    from_archive: end.storedCount,
    oldest: toMoment(end.oldestSecond),
    newest: toMoment(end.newestSecond),
    truncated: end.isTruncated,
    floor_reached: end.isFloorReached,
    ...(next_until !== null && { next_until }),
    gaps: end.gaps.map(toRange),
    uncertain: end.uncertain.map(toRange),
    pages: end.pages,
    duration_ms: end.durationMs,
  };
}

function toRange({ sinceSecond, untilSecond }: HistoryRange) {
  return { since: toMoment(sinceSecond), until: toMoment(untilSecond) };
}

const toMoment = (second: number | null): string | null =>
  second === null ? null : toIsoSeconds(second * 1000);
