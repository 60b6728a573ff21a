import { parseUrl } from '../../core/http/url.ts';
import { mapInSlices, type Sliced } from '../../core/scheduling/slices.ts';
import type { Account } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';
import { countSent, parseRows, type Rows, tellBeyond } from '../rows.ts';
import { createUnreadable } from './failure.ts';
import type { Home } from './identity.ts';
import { type AccountPayload, parseStatus, type StatusPayload } from './payload.ts';
import type { FoundReply } from './servers.ts';
import { shapePost, surround } from './shape.ts';

/** The rows of a page, and where the next one begins. */
export interface PageRows<Row> extends Rows<Row> {
  /** The `max_id` of the next page; null at the end. */
  readonly next: string | null;
}

/**
 * Reads a page of a list, each row once.
 *
 * @throws ProviderError `malformed` for what is no list, or one without objects
 */
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

/** Gives the first row of each id. */
export function uniqueById<Row extends { readonly id: string }>(
  rows: readonly Row[],
): readonly Row[] {
  return uniqueBy(rows, ({ id }) => id);
}

function uniqueBy<Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly Row[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = keyOf(row);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

/** The id of a relation, of a post or of an account, as a server writes it in a link. */
const positionForm = /^[\w-]{1,128}$/;

/** Gives `cursor` as a parameter of a request; none where it is not one that `readRows` has given. */
export function writeCursor(cursor: string | null): readonly string[] {
  return cursor !== null && positionForm.test(cursor) ? [`max_id=${cursor}`] : [];
}

/** Reads the next page's place in the header `Link` (RFC 8288), the only one where it is told. */
function nextOf({ header }: FoundReply): string | null {
  const links = (header('link') ?? '').split(/,(?=\s*<)/);
  const next = links.find((link) => /;\s*rel="?next"?\s*(?:;|$)/i.test(link));
  const [, target = ''] = /<([^<>]*)>/.exec(next ?? '') ?? [];
  // Only its place is taken, so it does not matter which host it names.
  const place = parseUrl(target)?.searchParams.get('max_id') ?? null;
  return place !== null && positionForm.test(place) ? place : null;
}

/** Returns the warnings for rows that were left out. */
export function tellUnread(
  { unreadable, beyond }: Omit<Rows<unknown>, 'rows'>,
  noun: 'post' | 'account',
): readonly string[] {
  return [...tellUnreadable(unreadable, noun), ...tellBeyond(beyond, noun)];
}

function tellUnreadable(unreadable: number, noun: 'post' | 'account'): readonly string[] {
  if (unreadable === 0) return [];
  const rows = unreadable === 1 ? `1 ${noun} is` : `${unreadable} ${noun}s are`;
  return [`${rows} left out, because the server sent nothing readable in its place.`];
}

/** The posts of a list that the public may see, each once, and what to say of the others. */
export interface Listed {
  readonly posts: readonly Status[];
  readonly warnings: readonly string[];
}

/** Returns the posts of a list in order. */
export async function shapeListed(
  rows: readonly StatusPayload[],
  home: Home,
  sliced: Sliced,
): Promise<Listed> {
  const around = surround(rows, home);
  const shaped = await mapInSlices(rows, (row) => shapePost(row, around), sliced);
  const posts = shaped.filter((post) => post.type === 'status');
  return {
    posts: uniqueBy(posts, ({ url }) => url),
    warnings: tellHidden(rows.length - posts.length),
  };
}

function tellHidden(count: number): readonly string[] {
  if (count === 0) return [];
  return [
    count === 1
      ? '1 post is left out, because it is not public.'
      : `${count} posts are left out, because they are not public.`,
  ];
}

/**
 * Says that posts of other servers are told by this one, which can have changed them; nothing where
 * there are none.
 */
export function tellCopies(posts: readonly Post[], { host }: Home): readonly string[] {
  const isCopy = (post: Post): boolean =>
    post.type === 'status' &&
    (post.copied_from !== undefined || (post.quote !== null && isCopy(post.quote)));
  if (!posts.some(isCopy)) return [];
  return [
    `Posts of other servers are shown as ${host} has them, and may differ from the originals.`,
  ];
}

/** Returns the warning for accounts of other servers in a list of one. */
export function tellCopiedAccounts(
  accounts: readonly Account[],
  { host }: Home,
): readonly string[] {
  if (accounts.every(({ copied_from }) => copied_from === undefined)) return [];
  return [
    `Accounts of other servers are shown as ${host} has them, and may differ from the originals.`,
  ];
}

/** Returns the warning for accounts that are suspended. */
export function tellSuspended(rows: readonly AccountPayload[]): readonly string[] {
  const count = rows.length - withoutSuspended(rows).length;
  if (count === 0) return [];
  const accounts = count === 1 ? '1 account is' : `${count} accounts are`;
  return [`${accounts} left out, because the server has suspended ${count === 1 ? 'it' : 'them'}.`];
}

/** Gives the accounts of a list that are not suspended. */
export function withoutSuspended(rows: readonly AccountPayload[]): readonly AccountPayload[] {
  return rows.filter(({ suspended }) => suspended !== true);
}

/**
 * Reads a page of posts of which so many were asked for. Of a server that sends no links at all a full
 * page goes on below its last post.
 *
 * @throws as `readRows`
 */
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

/** Posts on a page: what servers give unasked, and the most (Mastodon, section 2). */
const [usualPosts, maxPosts] = [20, 40];

/** Gives how many posts to ask for where so many are wanted. */
export function toLimit(count: number): number {
  return count <= usualPosts ? usualPosts : maxPosts;
}
