import type { Clock } from '../../../lib/clock.ts';
import type { RequestContext } from '../../../lib/http/http-client.ts';
import type { Status } from '../../../model/post.ts';
import type { PageSpan, TimelineQuery } from '../../../model/queries.ts';
import { bitsBelowTime, lastCountedId, snowflakeEpochMs, timeOfXId } from '../../../normalize/x.ts';
import { createMalformed } from '../../failure.ts';
import type { Fetch, ProviderContext } from '../../provider.ts';
import { countSent, describeUnread, uniqueById } from '../../rows.ts';
import type { Upstream } from '../../upstream.ts';
import { shapeListed } from '../normalize.ts';
import { type Profiles, profilePath } from '../profile.ts';
import { type PostPayload, parsePost } from '../wire.ts';
import {
  type ListAnswer,
  type ListPage,
  maxCount,
  nextCursor,
  readList,
  toPaging,
  writeCount,
} from './list.ts';

interface TimelineOptions {
  readonly upstream: Upstream;
  readonly profiles: Profiles;
  readonly clock: Clock;
}

/** Creates the timeline reader. It seeks `untilSeconds` where X can, and removes later posts. */
export function fetchTimeline(options: TimelineOptions): Fetch<'timeline'> {
  return async (query, context) => {
    const { page, sent } = await readPage(options, query, context);
    // At the end of a timeline, X sends a different cursor for the same position. A failed page may
    // do the same.
    const isStuck = isSamePlace(page.cursor, sent);
    const cursor = isStuck ? null : nextCursor(page, sent);
    const posts = await shapeListed(page.rows);
    return {
      items: pickPosts(posts, cursor, query),
      ...toPaging(page, cursor, isStuck || cursor !== null),
      span: toSpan(page, sent),
      warnings: describeUnread(page, 'post'),
    };
  };
}

const usualRows = 20; // a page with fewer rows may be incomplete

function toSpan(page: ListPage<PostPayload>, sent: string | null): PageSpan {
  const [from, to] = [sortIdOf(sent), sortIdOf(page.cursor)];
  const last = page.rows.at(-1);
  const showsOwnId = last?.type === 'status' && !last.reposted_by;
  const isAtEnd = showsOwnId && to !== null && BigInt(last.id) === to;
  const isLong = countSent(page) >= usualRows && !showsOwnId;
  // The page is whole if it is the last page, if its last post has the id in the cursor of the next
  // page, or if it has 20 or more posts and ends with a repost or a placeholder.
  return {
    fromMs: from === null ? null : timeOfXId(from),
    toMs: to === null ? null : timeOfXId(to),
    isWhole: isAtEnd || isLong || page.cursor === null,
  };
}

const sortIdOf = (cursor: string | null): bigint | null =>
  cursor === null ? null : (readTimelineCursor(cursor)?.sortId ?? null);

async function readPage(
  { upstream, profiles, clock }: TimelineOptions,
  query: TimelineQuery,
  context: ProviderContext,
) {
  const jump = toJump(query, clock.now());
  if (jump !== null) {
    const page = await readStatuses(upstream, { ...query, cursor: jump }, context);
    // X sends cursors even with an empty page. A page without cursors may be a refusal of the
    // constructed cursor.
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

function toJump({ cursor, untilSeconds, onlyMedia }: TimelineQuery, nowMs: number): string | null {
  if (onlyMedia === true) return null;
  if (cursor !== null || untilSeconds === null || untilSeconds * 1000 >= nowMs) return null;
  return cursorBefore(untilSeconds * 1000, nowMs);
}

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
      // FxTwitter takes any value as true.
      with_replies: withReplies && !onlyMedia ? '1' : null,
    },
    parseRow: parsePost,
  };
  return readList(upstream, request, context);
}

function pickPosts(posts: readonly Status[], cursor: string | null, query: TimelineQuery) {
  const own = posts.filter((post) => isWanted(post, query));
  const { untilSeconds } = query;
  return uniqueById(untilSeconds === null ? own : dropLater(own, cursor, untilSeconds));
}

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

function dropLater(posts: readonly Status[], cursor: string | null, untilSeconds: number) {
  const bottom = cursor === null ? null : readTimelineCursor(cursor);
  let belowSeconds = Math.floor((timeOfXId(bottom?.sortId ?? 0n) ?? 0) / 1000);
  const kept: Status[] = [];
  for (const post of posts.toReversed()) {
    const ownSeconds = post.created_timestamp;
    const madeSeconds = post.reposted_by === null ? ownSeconds : Math.max(ownSeconds, belowSeconds);
    if (madeSeconds < untilSeconds) kept.push(post);
    belowSeconds = Math.max(belowSeconds, ownSeconds);
  }
  return kept.reverse();
}

interface TimelineCursor {
  /** Snowflake id that encodes the time at which the cursor was created. */
  readonly issuedId: bigint;
  /** Id at which the page starts. If `direction` is `bottom`, the page has only lower ids. */
  readonly sortId: bigint;
  readonly direction: 'top' | 'bottom';
}

// Each field starts with its Thrift type and number. Two stop bytes end the structs.
const structField7 = '0c0007';
const i64Field1 = '0a0001';
const stringField2 = '0b0002';
const i32Field3 = '080003';
const stops = '0000';

const form = new RegExp(
  `^${structField7}${i64Field1}([0-9a-f]{16})${stringField2}0000(00[0-9a-f]{2})((?:3[0-9]){1,20})` +
    `${i32Field3}0000000([12])${stops}$`,
);

export function readTimelineCursor(text: string): TimelineCursor | null {
  const [, issued, length, digits, direction] =
    form.exec(Buffer.from(text, 'base64url').toString('hex')) ?? [];
  if (issued === undefined || digits === undefined) return null;
  if (Number(`0x${length}`) * 2 !== digits.length) return null;
  return {
    issuedId: BigInt(`0x${issued}`),
    sortId: BigInt(Buffer.from(digits, 'hex').toString('latin1')),
    direction: direction === '1' ? 'top' : 'bottom',
  };
}

export function writeTimelineCursor({ issuedId, sortId, direction }: TimelineCursor): string {
  const digits = String(sortId);
  const fields = [
    structField7,
    `${i64Field1}${toHex(issuedId, 16)}`,
    `${stringField2}${toHex(digits.length, 8)}${Buffer.from(digits, 'latin1').toString('hex')}`,
    `${i32Field3}${toHex(direction === 'top' ? 1 : 2, 8)}`,
    stops,
  ];
  return Buffer.from(fields.join(''), 'hex').toString('base64url');
}

const toHex = (value: number | bigint, digits: number): string =>
  value.toString(16).padStart(digits, '0');

/** Returns the lowest snowflake id at `ms`; `lastCountedId` before November 2010. */
export function leastIdAt(ms: number): bigint {
  const id = BigInt(Math.max(0, Math.trunc(ms) - snowflakeEpochMs)) << bitsBelowTime;
  return id > lastCountedId ? id : lastCountedId;
}

/** Creates a cursor for posts before `ms`, as X would have created it at `nowMs` (Unix ms). */
export function cursorBefore(ms: number, nowMs: number): string {
  const sortId = leastIdAt(ms);
  return writeTimelineCursor({ issuedId: leastIdAt(nowMs), sortId, direction: 'bottom' });
}
