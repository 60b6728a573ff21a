import type {
  HistoryQuery,
  HistoryRange,
  HistoryResult,
} from '../fetching/histories/history-result.ts';
import type { PlacedPost } from '../fetching/histories/ordering.ts';
import { toIsoSeconds } from '../lib/clock.ts';
import { toJsonBody } from '../lib/http/json-bodies.ts';
import type { Account } from '../model/account.ts';
import type {
  HistoryFormat,
  HistoryIndexEntry,
  HistoryMeta,
  HistoryMetaLine,
  HistoryPostLine,
  HistoryReply,
} from '../model/history.ts';
import { feedMediaTypes } from './feeds/feeds.ts';

export const historyMediaTypes = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  ...feedMediaTypes,
} as const satisfies Record<HistoryFormat, string>;

/** Metadata of a post history, available before the posts are read. */
export interface HistoryHeader {
  readonly handle: string;
  readonly account: Account | null;
  readonly query: HistoryQuery;
  readonly source: string;
  readonly fetchedAtMs: number;
  /** Returns the URL of the history before `untilSeconds` (Unix seconds); `null` for no end. */
  readonly toUrl: (untilSeconds: number | null, baseUrl: string) => string;
}

/** Writer of a post history: a start, batches of posts, and an end. */
export interface HistoryDocument {
  readonly add: (placed: readonly PlacedPost[]) => string;
  /** Returns the text around the posts. Call it last: both texts may depend on the posts. */
  readonly finish: (end: HistoryResult) => { readonly start: string; readonly end: string };
}

/** Creates a writer of a post history as one JSON document in parts. */
export function createHistoryDocument(header: HistoryHeader): HistoryDocument {
  let comma = '';
  return {
    add: (placed) => {
      const posts = toWirePosts(header, placed).map((post) => JSON.stringify(post));
      if (posts.length === 0) return '';
      const text = `${comma}${posts.join(',')}`;
      comma = ',';
      return text;
    },
    finish: (end) => {
      const { handle, account: profile } = header;
      const head = { resource: 'history', handle, ...(profile && { profile }) };
      const tail: Partial<HistoryReply> = { meta: toMeta(header, end), ...toOrigin(header, end) };
      return {
        start: `${JSON.stringify(head).slice(0, -1)},"posts":[`,
        end: `],${toJsonBody(tail).slice(1)}`,
      };
    },
  };
}

export function renderPostLines(header: HistoryHeader, placed: readonly PlacedPost[]): string {
  const lines: HistoryPostLine[] = toWirePosts(header, placed).map((post) => ({ post }));
  return lines.map(toJsonBody).join('');
}

function toWirePosts(
  { query }: HistoryHeader,
  placed: readonly PlacedPost[],
): readonly HistoryPostLine['post'][] {
  return query.isIndex ? placed.flatMap(toIndexEntry) : placed.map(({ post }) => post);
}

function toIndexEntry({ post }: PlacedPost): readonly HistoryIndexEntry[] {
  if (post.type === 'tombstone') return [];
  const { id, url, created_at, created_timestamp, reposted_by } = post;
  return [{ id, url, created_at, created_timestamp, repost: reposted_by !== null }];
}

export function toMetaLine(header: HistoryHeader, end: HistoryResult): HistoryMetaLine {
  return { meta: { ...toMeta(header, end), ...toOrigin(header, end) } };
}

function toOrigin({ source, fetchedAtMs }: HistoryHeader, { warnings }: HistoryResult) {
  return { warnings, source, fetched_at: toIsoSeconds(fetchedAtMs) };
}

function toMeta({ handle, query }: HistoryHeader, end: HistoryResult): HistoryMeta {
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
