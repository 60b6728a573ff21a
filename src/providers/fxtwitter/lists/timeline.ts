import type { Clock } from '../../../core/clock.ts';
import type { RequestContext } from '../../../core/http/http-client.ts';
import type { Status } from '../../../model/post.ts';
import type { PageSpan, TimelineQuery } from '../../../model/queries.ts';
import { createMalformed } from '../../failure.ts';
import type { Ask, ProviderContext } from '../../provider.ts';
import { countSent, tellUnread, uniqueById } from '../../rows.ts';
import type { Upstream } from '../../upstream.ts';
import { type PostPayload, parsePost } from '../payload.ts';
import { type Profiles, profilePath } from '../profile.ts';
import { shapeListed } from '../shape.ts';
import {
  type ListAnswer,
  type ListPage,
  maxCount,
  nextCursor,
  readList,
  toPaging,
  writeCount,
} from './list.ts';
import { cursorBefore, readTimelineCursor, timeOfId } from './timeline-cursor.ts';

interface TimelineOptions {
  readonly upstream: Upstream;
  readonly profiles: Profiles;
  readonly clock: Clock;
}

/**
 * Creates the read of a page of a timeline. One with `untilSeconds` is entered by a made-up cursor, to
 * skip what is newer, unless the service refuses that.
 */
export function askTimeline(options: TimelineOptions): Ask<'timeline'> {
  return async (query, context) => {
    const { page, sent } = await readPage(options, query, context);
    // At the end X names the same place by another cursor, and so may a page that fails.
    const isStuck = isSamePlace(page.cursor, sent);
    const cursor = isStuck ? null : nextCursor(page, sent);
    const posts = await shapeListed(page.rows, context);
    return {
      items: pickPosts(posts, cursor, query),
      ...toPaging(page, cursor, isStuck || cursor !== null),
      span: toSpan(page, sent),
      warnings: tellUnread(page, 'post'),
    };
  };
}

const usualRows = 20; // fewer rows than these are a short page, unless it is seen to be whole

/**
 * Returns the part of the timeline that a page covers: X sorts by the ids in the cursors. A page is
 * whole if its last row has the id of the next page's cursor; a repost does not tell its own.
 */
function toSpan(page: ListPage<PostPayload>, sent: string | null): PageSpan {
  const [from, to] = [sortIdOf(sent), sortIdOf(page.cursor)];
  const last = page.rows.at(-1);
  const isTelling = last?.type === 'status' && !last.reposted_by;
  const isAtEnd = isTelling && to !== null && BigInt(last.id) === to;
  const isLong = countSent(page) >= usualRows && !isTelling;
  return {
    fromMs: from === null ? null : timeOfId(from),
    toMs: to === null ? null : timeOfId(to),
    isWhole: isAtEnd || isLong || page.cursor === null,
  };
}

function sortIdOf(cursor: string | null): bigint | null {
  return cursor === null ? null : (readTimelineCursor(cursor)?.sortId ?? null);
}

async function readPage(
  { upstream, profiles, clock }: TimelineOptions,
  query: TimelineQuery,
  context: ProviderContext,
) {
  const jump = toJump(query, clock.now());
  if (jump !== null) {
    const page = await readStatuses(upstream, { ...query, cursor: jump }, context);
    // X has cursors on an empty page, too: one without may be a refusal of the made-up cursor.
    const isBlank = page.is === 'page' && countSent(page) === 0 && page.cursor === null;
    if (page.is === 'page' && !isBlank) return { page, sent: jump };
  }
  const page = await readStatuses(upstream, query, context);
  if (page.is === 'absent') throw await profiles.explainAbsence(query.account.handle, context);
  if (page.is === 'refused') throw createMalformed();
  return { page, sent: query.cursor };
}

function isSamePlace(next: string | null, sent: string | null): boolean {
  if (next === null || sent === null) return false;
  const [to, from] = [readTimelineCursor(next), readTimelineCursor(sent)];
  if (to === null || from === null) return false;
  return to.sortId === from.sortId && to.direction === from.direction;
}

/** Returns the cursor to where a read begins; null for the top, and for posts with media. */
function toJump({ cursor, untilSeconds, onlyMedia }: TimelineQuery, nowMs: number): string | null {
  if (onlyMedia === true) return null;
  if (cursor !== null || untilSeconds === null || untilSeconds * 1000 >= nowMs) return null;
  return cursorBefore(untilSeconds * 1000, nowMs);
}

/** Filtered reads ask for as many rows as there can be. `with_replies` is true even when empty. */
function readStatuses(
  upstream: Upstream,
  { account, count: wanted, cursor, withReplies, withReposts, onlyMedia = false }: TimelineQuery,
  context: RequestContext,
): Promise<ListAnswer<PostPayload>> {
  const count = withReplies || !withReposts ? maxCount : wanted;
  const request = {
    path: `${profilePath(account.handle)}/${onlyMedia ? 'media' : 'statuses'}`,
    parameters: {
      count: writeCount(count),
      cursor,
      with_replies: withReplies && !onlyMedia ? '1' : null,
    },
    parseRow: parsePost,
  };
  return readList(upstream, request, context);
}

/** Each post once; that comes last, because an account may repost what it wrote. */
function pickPosts(posts: readonly Status[], cursor: string | null, query: TimelineQuery) {
  const own = posts.filter((post) => isWanted(post, query));
  const { untilSeconds } = query;
  return uniqueById(untilSeconds === null ? own : dropLater(own, cursor, untilSeconds));
}

/** With replies, the service adds the posts by others that were replied to. */
function isWanted(post: Status, query: TimelineQuery): boolean {
  const { account, withReplies, withReposts, onlyMedia = false } = query;
  if (onlyMedia && post.media.all.length === 0) return false;
  const isOwner = (handle: string) => handle.toLowerCase() === account.handle.toLowerCase();
  if (post.reposted_by !== null && !withReposts) return false;
  if (post.reposted_by !== null && isOwner(post.reposted_by.screen_name)) return true;
  if (!isOwner(post.author.screen_name)) return false;
  const repliedTo = post.replying_to?.screen_name ?? null;
  return withReplies || repliedTo === null || isOwner(repliedTo);
}

/**
 * Leaves out what is from `untilSeconds` on. A repost carries the time of the original: it was made not
 * before any row below it, nor before the next page's cursor. One that may be older stays.
 */
function dropLater(posts: readonly Status[], cursor: string | null, untilSeconds: number) {
  const bottom = cursor === null ? null : readTimelineCursor(cursor);
  let belowSeconds = Math.floor((timeOfId(bottom?.sortId ?? 0n) ?? 0) / 1000);
  const kept: Status[] = [];
  for (const post of posts.toReversed()) {
    const ownSeconds = post.created_timestamp;
    const madeSeconds = post.reposted_by === null ? ownSeconds : Math.max(ownSeconds, belowSeconds);
    if (madeSeconds < untilSeconds) kept.push(post);
    belowSeconds = Math.max(belowSeconds, ownSeconds);
  }
  return kept.reverse();
}
