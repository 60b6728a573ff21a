import { createHash } from 'node:crypto';
import { postKey } from '../../fetching/cache/subjects.ts';
import { Problem } from '../../lib/problem.ts';
import type { Status } from '../../model/post.ts';
import type { ListResult } from '../../model/results.ts';
import type { ParsedRead } from '../../reads/read.ts';
import type { Reader } from '../../reads/run.ts';
import type { Target } from './targets.ts';

/** Number of posts after which a poll of a list requests no further page. */
export const maxItems = 2000;

const maxPages = 40;

const firstPage = 20;

const laterPages = 100;

/** Posts to deliver at first: all since `seconds` (Unix seconds), or the newest `count`. */
export type Start =
  | { readonly kind: 'since'; readonly seconds: number }
  | { readonly kind: 'backlog'; readonly count: number };

export interface Poll {
  /** New posts, oldest first. */
  readonly newItems: readonly Item[];
  /** Known posts of the list. A new post is added only after its delivery. */
  readonly memory: Memory;
  /** All posts that the poll has read, except a pinned one. */
  readonly items: readonly Item[];
  /** Whether `newItems` lacks the oldest new posts, because the poll reached a maximum. */
  readonly isTruncated: boolean;
}

/** Parses a request for one page. @throws Problem with status 400 for invalid parameters */
export function parsePage(
  { read, parameters }: Target,
  reader: Reader,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): ParsedRead {
  const page = { limit: String(limit), nocache: 'true', cursor };
  return reader.parse(read, { ...parameters, ...page });
}

/** Reads a list for the first time. @throws Problem if it cannot be read from its platform */
export async function pollFirst(
  target: Target,
  reader: Reader,
  { start, nowMs }: { readonly start: Start; readonly nowMs: number },
): Promise<Poll> {
  if (start.kind === 'since') {
    const memory = { floor: start.seconds - 1, seen: new Map() };
    return pollAgain(target, reader, memory, { isFirst: true });
  }
  const { count } = start;
  const list = await readList(target, reader, {
    limit: Math.min(laterPages, Math.max(firstPage, count)),
    mayContinue: (all) => all.length < count,
  });
  const all = inOrder(list.items, list.pinned);
  const newItems = all.slice(0, count).toReversed();
  const seen = new Map(
    all
      .slice(count)
      .toReversed()
      .map(({ key, seconds }) => [key, seconds]),
  );
  // An account without posts can have posts that the platform does not list yet.
  const known = oldestOf(list.items) ?? Math.floor(nowMs / 1000) - 86_400;
  const floor = Math.min(known, (oldestOf(newItems) ?? known + 1) - 1);
  return { ...list, newItems, memory: { floor, seen }, isTruncated: false };
}

/** Reads up to a known post. @throws Problem if the list cannot be read from its platform */
export async function pollAgain(
  target: Target,
  reader: Reader,
  memory: Memory,
  { isFirst = false }: { readonly isFirst?: boolean } = {},
): Promise<Poll> {
  const { seen, floor } = memory;
  const isNewer = ({ key, seconds }: Item) =>
    !seen.has(key) && (seconds === null || seconds > floor);
  const list = await readList(target, reader, {
    limit: firstPage,
    mayContinue: (read) => read.slice(-1).every(isNewer),
  });
  return { ...list, memory, newItems: selectNew(list, memory, isFirst).toReversed() };
}

interface ReadOptions {
  readonly limit: number;
  /** Returns whether to read another page after these posts. */
  readonly mayContinue: (read: readonly Item[]) => boolean;
}

async function readList(target: Target, reader: Reader, { limit, mayContinue }: ReadOptions) {
  const read: Item[] = [];
  let cursor: string | undefined;
  for (let pages = 0; read.length < maxItems && pages < maxPages; pages += 1) {
    const size = pages === 0 ? limit : laterPages;
    const page = await readPage(parsePage(target, reader, { limit: size, cursor }), reader);
    read.push(...itemsOf(page));
    cursor = page.next?.cursor;
    if (cursor === undefined || !mayContinue(read)) return toList(read, false);
  }
  return toList(read, true);
}

/** Returns each post once, newest first, and a pinned post apart from the others. */
function toList([first, ...rest]: readonly Item[], isTruncated: boolean) {
  const pinned = isPinned(first, rest) ? first : null;
  const listed = first === undefined || pinned !== null ? rest : [first, ...rest];
  const unique = new Map(listed.map((item) => [item.key, item]));
  return { items: [...unique.values()], pinned, isTruncated };
}

async function readPage(parsed: ParsedRead, reader: Reader): Promise<ListResult> {
  const page = reader.assemble(await reader.fetch(parsed));
  if (page.kind !== 'browse')
    throw new Error('The read operation of a watched target does not return a list.');
  if (page.degraded) {
    // The posts are from the archive, for example, and would look new.
    throw new Problem('upstream_unavailable', { detail: 'The platform could not be read.' });
  }
  return page;
}

export interface Item {
  readonly post: Status;
  /** Key that identifies the post. A repost has a different key from the original post. */
  readonly key: string;
  /** Time of publication in Unix seconds; `null` for a repost, whose time is unknown. */
  readonly seconds: number | null;
}

/** Returns the posts of a page in its order, without placeholders for unavailable posts. */
function itemsOf({ items }: ListResult): readonly Item[] {
  const posts = items !== null && 'posts' in items ? items.posts : [];
  return posts.flatMap((post): readonly Item[] => {
    if (post.type !== 'status') return [];
    const { reposted_by: by, created_timestamp: seconds } = post;
    const key = keyOf(post);
    if (by === null) return [{ post, key, seconds }];
    return [{ post, key: `${key} by ${by.id}`, seconds: null }];
  });
}

function keyOf(post: Status): string {
  const { platform, id, author } = post;
  // URLs of Bluesky contain the handle, but the DID of an account never changes.
  return `${platform} ${author.id.startsWith('did:') ? `${author.id} ${id}` : postKey(post)}`;
}

/** Returns the `webhook-id` header: letters and digits, the same in all runs on all machines. */
export const toDeliveryId = ({ key }: Item): string =>
  `post${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;

export const maxRemembered = 1000;

/** Record of a list's posts that need no delivery: delivered posts and older posts. */
export interface Memory {
  /** Time in Unix seconds. Posts that were published at or before this time are never delivered. */
  readonly floor: number;
  /** Publication times in Unix seconds by post key, oldest addition first; `null` for a repost. */
  readonly seen: ReadonlyMap<string, number | null>;
}

/**
 * Returns a copy with `items` added. Keeps the last `maxRemembered` posts in the order of addition.
 * If posts are removed, `floor` rises to the time of the oldest post that remains.
 */
export function remember({ floor, seen }: Memory, items: readonly Item[]): Memory {
  const added = items.map(({ key, seconds }) => [key, seconds] as const);
  const all = [...new Map([...seen, ...added])];
  const kept = all.slice(-maxRemembered);
  const times = timesOf(kept.map(([, seconds]) => seconds));
  const mayRise = kept.length < all.length && times.length > 0;
  return { floor: mayRise ? Math.max(floor, Math.min(...times)) : floor, seen: new Map(kept) };
}

const timesOf = (times: readonly (number | null)[]) => times.filter((one) => one !== null);

/** Returns whether the first post of a list is older than the next one with a known time. */
function isPinned(first: Item | undefined, rest: readonly Item[]): first is Item {
  const next = rest.find(({ seconds }) => seconds !== null);
  return first?.seconds != null && next?.seconds != null && first.seconds < next.seconds;
}

/** Returns `items` with a pinned post in its chronological position. */
function inOrder(items: readonly Item[], pinned: Item | null): readonly Item[] {
  if (pinned === null || items.some(({ key }) => key === pinned.key)) return items;
  const place = items.findIndex(
    ({ seconds }) => seconds !== null && seconds < (pinned.seconds ?? 0),
  );
  return items.toSpliced(place === -1 ? items.length : place, 0, pinned);
}

/** Returns Unix seconds; `undefined` if no post has a known time. */
function oldestOf(items: readonly Item[]): number | undefined {
  const times = timesOf(items.map(({ seconds }) => seconds));
  return times.length === 0 ? undefined : Math.min(...times);
}

/**
 * Returns the new items of a list that is sorted newest first. A post is new if it was published
 * after `floor`. A repost is new if it is listed above a known item or above a post published after
 * `floor`; without a known item all reposts are new, unless this is the first read.
 */
function selectNew(
  { items, pinned }: ReturnType<typeof toList>,
  { floor, seen }: Memory,
  isFirst: boolean,
): readonly Item[] {
  // The position of a post does not matter, because platforms list some posts late.
  const isLater = ({ seconds }: Item) => seconds !== null && seconds > floor;
  const lastKnown = items.findLastIndex(({ key }) => seen.has(key));
  const isAllNew = lastKnown === -1 && !isFirst;
  const end = isAllNew ? items.length : Math.max(lastKnown, items.findLastIndex(isLater));
  const reposts = new Set(items.slice(0, end).filter(({ seconds }) => seconds === null));
  return inOrder(items, pinned).filter(
    (item) => !seen.has(item.key) && (isLater(item) || reposts.has(item)),
  );
}
