import { parseUrl } from '../../lib/http/url.ts';
import { mapWithPauses } from '../../lib/scheduling/map.ts';
import type { Account } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';
import type { ConnectionsQuery, Page, SearchQuery, TimelineQuery } from '../../model/queries.ts';
import { type Home, isLocal, shapeAccount } from '../../normalize/mastodon/identity.ts';
import { createSurroundings, shapePost } from '../../normalize/mastodon/normalize.ts';
import {
  type AccountPayload,
  parseAccount,
  parseStatus,
  type StatusPayload,
} from '../../normalize/mastodon/wire.ts';
import type { Fetch, ProviderContext } from '../provider.ts';
import {
  countSent,
  describeOmitted,
  describeUnread,
  parseRows,
  type Rows,
  uniqueBy,
  uniqueById,
} from '../rows.ts';
import type { Accounts } from './accounts.ts';
import { createUnreadable, type FoundReply } from './servers.ts';

/** Creates the function that reads an account's posts and boosts. Omits those not public. */
export function fetchTimeline(accounts: Accounts): Fetch<'timeline'> {
  return async (query, context) => {
    const { handle } = query.account;
    const { home } = await accounts.locate(handle, context);
    const page = await readBefore(query, async (cursor) => {
      const parameters = toParameters({ ...query, cursor });
      const { reply } = await accounts.readList(handle, `statuses?${parameters}`, context);
      return readPosts(reply, toLimit(query.count));
    });
    // A timeline has posts and boosts by a local account. Posts by accounts of other servers are
    // not trusted.
    const own = page.rows.filter(({ account }) => isLocal(account));
    const foreign = page.rows.length - own.length;
    const listed = await shapeListed(dropLater(own, query.untilSeconds), home);
    // Some server software ignores the parameter `only_media`.
    const { onlyMedia } = query;
    const items = listed.posts.filter(({ media }) => !onlyMedia || media.all.length > 0);
    return {
      items,
      cursor: page.next,
      rows: countSent(page),
      warnings: [
        ...describeCopies(items, home),
        ...listed.warnings,
        ...describeOmitted(foreign, 'post', ['the author is not an account of this server']),
        ...describeUnread(page, 'post', 'server'),
      ],
    };
  };
}

function toParameters(query: TimelineQuery): string {
  const { count, cursor, withReplies, withReposts, onlyMedia = false } = query;
  return [
    `limit=${toLimit(count)}`,
    ...(withReplies ? [] : ['exclude_replies=true']),
    ...(withReposts ? [] : ['exclude_reblogs=true']),
    ...(onlyMedia ? ['only_media=true'] : []),
    ...writeCursor(cursor),
  ].join('&');
}

const [usualCount, maxCount] = [40, 80]; // accounts on a page: default of servers, maximum

export function fetchConnections(accounts: Accounts) {
  return async (query: ConnectionsQuery, context: ProviderContext): Promise<Page<Account>> => {
    const { kind, count, cursor } = query;
    const limit = count <= usualCount ? usualCount : maxCount;
    const parameters = [`limit=${limit}`, ...writeCursor(cursor)].join('&');
    const { handle } = query.account;
    const { account, reply } = await accounts.readList(handle, `${kind}?${parameters}`, context);
    const page = await readRows(reply, parseAccount);
    const isHidden = account.hidesLists && page.rows.length === 0 && cursor === null;
    const { items, warnings } = await shapeAccounts(page, account.home);
    return {
      items,
      cursor: page.next,
      rows: countSent(page),
      warnings: [...(isHidden ? ['The owner of this account hides this list.'] : []), ...warnings],
    };
  };
}

export interface PageRows<Row> extends Rows<Row> {
  readonly next: string | null;
}

/** Parses a list page without duplicates. Throws ProviderError `malformed` for any other body. */
export async function readRows<Row extends { readonly id: string }>(
  reply: FoundReply,
  parse: (row: unknown) => Row | null,
): Promise<PageRows<Row>> {
  const found = await parseRows(reply.body, parse);
  if (found === null) throw createUnreadable();
  const isNoPage = found.excess > 0 || hasNoObjects(reply.body);
  if (found.rows.length === 0 && isNoPage) throw createUnreadable();
  return { ...found, rows: uniqueById(found.rows), next: nextOf(reply) };
}

function hasNoObjects(list: unknown): boolean {
  const rows: readonly unknown[] = Array.isArray(list) ? list : [];
  return rows.length > 0 && !rows.some((row) => typeof row === 'object' && row !== null);
}

const positionForm = /^[\w-]{1,128}$/; // id of a relation, post or account in a `Link` header

/** Returns the query parameter for `cursor`; an empty list if it is `null` or malformed. */
export const writeCursor = (cursor: string | null): readonly string[] =>
  cursor !== null && positionForm.test(cursor) ? [`max_id=${cursor}`] : [];

/** Returns the next page's cursor from the header `Link` (RFC 8288); `null` if there is none. */
function nextOf({ header }: FoundReply): string | null {
  const links = (header('link') ?? '').split(/,(?=\s*<)/);
  const next = links.find((link) => /;\s*rel="?next"?\s*(?:;|$)/i.test(link));
  const [, target = ''] = /<([^<>]*)>/.exec(next ?? '') ?? [];
  // Only the parameter is used, so the host of the URL does not matter.
  const maxId = parseUrl(target)?.searchParams.get('max_id') ?? null;
  return maxId !== null && positionForm.test(maxId) ? maxId : null;
}

export async function shapeListed(rows: readonly StatusPayload[], home: Home) {
  const around = createSurroundings(rows, home);
  const shaped = await mapWithPauses(rows, (row) => shapePost(row, around));
  const posts: readonly Status[] = shaped.filter((post) => post.type === 'status');
  const because = ['it is not public', 'they are not public'] as const;
  return {
    posts: uniqueBy(posts, ({ url }) => url),
    warnings: describeOmitted(rows.length - posts.length, 'post', because),
  };
}

/** Returns a warning if some posts are copies from other servers, which may differ. */
export function describeCopies(posts: readonly Post[], { host }: Home): readonly string[] {
  const isCopy = (post: Post): boolean =>
    post.type === 'status' &&
    (post.copied_from !== undefined || (post.quote !== null && isCopy(post.quote)));
  if (!posts.some(isCopy)) return [];
  return [
    `Posts from other servers are copies stored on ${host}, and may differ from the originals.`,
  ];
}

/** Converts accounts, except suspended ones, and returns them with the response's warnings. */
export async function shapeAccounts(found: Rows<AccountPayload>, home: Home) {
  const shown = found.rows.filter(({ suspended }) => suspended !== true);
  const shape = (row: AccountPayload) => shapeAccount(row, home);
  const items: readonly Account[] = await mapWithPauses(shown, shape);
  const copied = `Accounts from other servers are copies stored on ${home.host}, and may differ from the originals.`;
  const warnings = [
    ...(items.some(({ copied_from }) => copied_from !== undefined) ? [copied] : []),
    ...describeOmitted(found.rows.length - shown.length, 'account', [
      'the server has suspended it',
      'the server has suspended them',
    ]),
    ...describeUnread(found, 'account', 'server'),
  ];
  return { items, warnings };
}

/** Parses posts. For a full page without a `Link` header, the last id is the next cursor. */
export async function readPosts(
  reply: FoundReply,
  limit: number,
): Promise<PageRows<StatusPayload>> {
  const page = await readRows(reply, parseStatus);
  const isFull = countSent(page) >= limit;
  const last = isFull && reply.header('link') === undefined ? page.rows.at(-1) : undefined;
  return last === undefined ? page : { ...page, next: last.id };
}

const [usualPosts, maxPosts] = [20, 40];

export const toLimit = (count: number): number => (count <= usualPosts ? usualPosts : maxPosts);

/**
 * Reads a page of posts, newest first: from `cursor`; else before `untilSeconds` if ids encode
 * times; else from the newest post, so that the caller must remove posts made at `untilSeconds` or
 * later.
 */
export async function readBefore(
  { cursor, untilSeconds }: Pick<SearchQuery, 'cursor' | 'untilSeconds'>,
  read: (cursor: string | null) => Promise<PageRows<StatusPayload>>,
): Promise<PageRows<StatusPayload>> {
  if (cursor !== null || untilSeconds === null) return read(cursor);
  const jumped = await read(idBefore(untilSeconds * 1000));
  if (haveTimeIds(jumped.rows)) return jumped;
  const first = await read(null);
  // If the newest ids encode times, the first response was right: an empty page is the end, and low
  // ids are old.
  return haveTimeIds(first.rows) && jumped.rows.every(isNumericId) ? jumped : first;
}

/** Removes posts made at `untilSeconds` or later. For a boost, compares the boost's time. */
export function dropLater(rows: readonly StatusPayload[], untilSeconds: number | null) {
  const untilMs = (untilSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  return rows.filter(({ createdMs }) => createdMs < untilMs);
}

// Ids of Mastodon (`Mastodon::Snowflake`): Unix milliseconds above 16 other bits. Other software
// has other ids.

const belowTime = 16n;

const maxDriftMs = 3_600_000;

const idBefore = (ms: number): string => String(BigInt(Math.max(0, Math.trunc(ms))) << belowTime);

function haveTimeIds(rows: readonly StatusPayload[]): boolean {
  if (!rows.every(isNumericId)) return false;
  const driftMs = ({ id, createdMs }: StatusPayload) => Number(BigInt(id) >> belowTime) - createdMs;
  return rows.filter((row) => Math.abs(driftMs(row)) <= maxDriftMs).length * 2 > rows.length;
}

const isNumericId = ({ id }: Pick<StatusPayload, 'id'>): boolean => /^\d{1,19}$/.test(id);
