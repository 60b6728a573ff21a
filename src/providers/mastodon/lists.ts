import { parseUrl } from '../../core/http/url.ts';
import { mapInSlices, type Sliced } from '../../core/scheduling/slices.ts';
import type { Account } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';
import type { ConnectionsQuery, Page, SearchQuery, TimelineQuery } from '../../model/queries.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import {
  countSent,
  parseRows,
  type RowNoun,
  type Rows,
  tellBeyond,
  tellOmitted,
  uniqueBy,
  uniqueById,
} from '../rows.ts';
import { type Accounts, shapeAccount } from './accounts.ts';
import { type Home, isOwn } from './identity.ts';
import { type AccountPayload, parseAccount, parseStatus, type StatusPayload } from './payload.ts';
import { createUnreadable, type FoundReply } from './servers.ts';
import { shapePost, surround } from './shape.ts';

/** Creates the read of a page of a timeline. Pages are short where the server leaves something out. */
export function askTimeline(accounts: Accounts): Ask<'timeline'> {
  return async (query, context) => {
    const { handle } = query.account;
    const { home } = await accounts.locate(handle, context);
    const page = await readBefore(query, async (cursor) => {
      const parameters = toParameters({ ...query, cursor });
      const { reply } = await accounts.readList(handle, `statuses?${parameters}`, context);
      return readPosts(reply, toLimit(query.count), context);
    });
    // A timeline has posts and boosts by its account; a row of another server is not believed.
    const own = page.rows.filter(({ account }) => isOwn(account));
    const foreign = page.rows.length - own.length;
    const listed = await shapeListed(dropLater(own, query.untilSeconds), home, context);
    // Some servers know the API and not the parameter for media.
    const { onlyMedia } = query;
    const items = listed.posts.filter(({ media }) => !onlyMedia || media.all.length > 0);
    return {
      items,
      cursor: page.next,
      rows: countSent(page),
      warnings: [
        ...tellCopies(items, home),
        ...listed.warnings,
        ...tellOmitted(foreign, 'post', ['the author is no account of this server']),
        ...tellUnread(page, 'post'),
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

/** Accounts on a page: the default of servers, and the maximum. */
const [usualCount, maxCount] = [40, 80];

export function askConnections(accounts: Accounts) {
  return async (query: ConnectionsQuery, context: ProviderContext): Promise<Page<Account>> => {
    const { kind, count, cursor } = query;
    const limit = count <= usualCount ? usualCount : maxCount;
    const parameters = [`limit=${limit}`, ...writeCursor(cursor)].join('&');
    const { handle } = query.account;
    const { account, reply } = await accounts.readList(handle, `${kind}?${parameters}`, context);
    const page = await readRows(reply, parseAccount, context);
    const isHidden = account.hidesLists && page.rows.length === 0 && cursor === null;
    const { items, warnings } = await shapeAccounts(page, account.home, context);
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

/** Reads a page of a list, each row once. Throws ProviderError `malformed` without objects. */
export async function readRows<Row extends { readonly id: string }>(
  reply: FoundReply,
  parse: (row: unknown) => Row | null,
  sliced: Sliced,
): Promise<PageRows<Row>> {
  const found = await parseRows(reply.body, parse, sliced);
  if (found === null) throw createUnreadable();
  const isNoPage = found.beyond > 0 || holdsNoObject(reply.body);
  if (found.rows.length === 0 && isNoPage) throw createUnreadable();
  return { ...found, rows: uniqueById(found.rows), next: nextOf(reply) };
}

function holdsNoObject(list: unknown): boolean {
  const rows: readonly unknown[] = Array.isArray(list) ? list : [];
  return rows.length > 0 && !rows.some((row) => typeof row === 'object' && row !== null);
}

/** The id of a relation, of a post or of an account, as a server writes it in a link. */
const positionForm = /^[\w-]{1,128}$/;

/** Returns `cursor` as a parameter of a request; none if it cannot have come from `readRows`. */
export function writeCursor(cursor: string | null): readonly string[] {
  return cursor !== null && positionForm.test(cursor) ? [`max_id=${cursor}`] : [];
}

/** Reads the place of the next page from the header `Link` (RFC 8288). */
function nextOf({ header }: FoundReply): string | null {
  const links = (header('link') ?? '').split(/,(?=\s*<)/);
  const next = links.find((link) => /;\s*rel="?next"?\s*(?:;|$)/i.test(link));
  const [, target = ''] = /<([^<>]*)>/.exec(next ?? '') ?? [];
  // Only its place is taken, so it does not matter which host it names.
  const place = parseUrl(target)?.searchParams.get('max_id') ?? null;
  return place !== null && positionForm.test(place) ? place : null;
}

export function tellUnread(
  { unreadable, beyond }: Pick<Rows<unknown>, 'unreadable' | 'beyond'>,
  noun: RowNoun,
): readonly string[] {
  const because = 'the server sent nothing readable in its place';
  return [...tellOmitted(unreadable, noun, [because]), ...tellBeyond(beyond, noun)];
}

export async function shapeListed(rows: readonly StatusPayload[], home: Home, sliced: Sliced) {
  const around = surround(rows, home);
  const shaped = await mapInSlices(rows, (row) => shapePost(row, around), sliced);
  const posts: readonly Status[] = shaped.filter((post) => post.type === 'status');
  const because = ['it is not public', 'they are not public'] as const;
  return {
    posts: uniqueBy(posts, ({ url }) => url),
    warnings: tellOmitted(rows.length - posts.length, 'post', because),
  };
}

/** Returns the warning for posts of other servers, which the server may have changed. */
export function tellCopies(posts: readonly Post[], { host }: Home): readonly string[] {
  const isCopy = (post: Post): boolean =>
    post.type === 'status' &&
    (post.copied_from !== undefined || (post.quote !== null && isCopy(post.quote)));
  if (!posts.some(isCopy)) return [];
  return [
    `Posts of other servers are shown as ${host} has them, and may differ from the originals.`,
  ];
}

/** Returns the accounts of a list that are not suspended. */
export async function shapeAccounts(found: Rows<AccountPayload>, home: Home, sliced: Sliced) {
  const shown = found.rows.filter(({ suspended }) => suspended !== true);
  const shape = (row: AccountPayload) => shapeAccount(row, home);
  const items: readonly Account[] = await mapInSlices(shown, shape, sliced);
  const copied = `Accounts of other servers are shown as ${home.host} has them, and may differ from the originals.`;
  const warnings = [
    ...(items.some(({ copied_from }) => copied_from !== undefined) ? [copied] : []),
    ...tellOmitted(found.rows.length - shown.length, 'account', [
      'the server has suspended it',
      'the server has suspended them',
    ]),
    ...tellUnread(found, 'account'),
  ];
  return { items, warnings };
}

/** Reads posts as `readRows` does. A full page without `Link` goes on below its last post. */
export async function readPosts(
  reply: FoundReply,
  limit: number,
  sliced: Sliced,
): Promise<PageRows<StatusPayload>> {
  const page = await readRows(reply, parseStatus, sliced);
  const isFull = countSent(page) >= limit;
  const last = isFull && reply.header('link') === undefined ? page.rows.at(-1) : undefined;
  return last === undefined ? page : { ...page, next: last.id };
}

const [usualPosts, maxPosts] = [20, 40];

export function toLimit(count: number): number {
  return count <= usualPosts ? usualPosts : maxPosts;
}

/**
 * Reads a page of posts, newest first. What is newer than `untilSeconds` is jumped over by a made-up id,
 * if the ids of the server contain times.
 */
export async function readBefore(
  { cursor, untilSeconds }: Pick<SearchQuery, 'cursor' | 'untilSeconds'>,
  read: (cursor: string | null) => Promise<PageRows<StatusPayload>>,
): Promise<PageRows<StatusPayload>> {
  if (cursor !== null || untilSeconds === null) return read(cursor);
  const jumped = await read(idBefore(untilSeconds * 1000));
  if (haveTimes(jumped.rows)) return jumped;
  const first = await read(null);
  // If newer ids contain times, an empty page has nothing before it, and older ids were counted.
  return haveTimes(first.rows) && jumped.rows.every(isCounted) ? jumped : first;
}

/** Drops what is from the end of the time on; a boost counts as from when it was made. */
export function dropLater(rows: readonly StatusPayload[], untilSeconds: number | null) {
  const untilMs = (untilSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  return rows.filter(({ createdMs }) => createdMs < untilMs);
}

// Ids of Mastodon contain a time: milliseconds since the epoch above 16 bits that tell posts of one
// moment apart (its source, `Mastodon::Snowflake`). Other software has other ids.

const belowTime = 16n;

/** A post that a server fetched late can have the id of another moment than the one it says. */
const maxDriftMs = 3_600_000;

function idBefore(ms: number): string {
  return String(BigInt(Math.max(0, Math.trunc(ms))) << belowTime);
}

/** Returns whether ids are times: all are numbers, and most fit the times of their posts. */
function haveTimes(rows: readonly StatusPayload[]): boolean {
  if (!rows.every(isCounted)) return false;
  const driftMs = ({ id, createdMs }: StatusPayload) => Number(BigInt(id) >> belowTime) - createdMs;
  return rows.filter((row) => Math.abs(driftMs(row)) <= maxDriftMs).length * 2 > rows.length;
}

function isCounted({ id }: Pick<StatusPayload, 'id'>): boolean {
  return /^\d{1,19}$/.test(id);
}
