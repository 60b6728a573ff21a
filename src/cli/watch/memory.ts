import { createHash } from 'node:crypto';
import { postKey } from '../../fetching/cache/subjects.ts';
import type { Status } from '../../model/post.ts';
import type { BrowseResult } from '../../model/results.ts';

export interface Item {
  readonly post: Status;
  /** Key that identifies the post. A repost has a different key from the original post. */
  readonly key: string;
  /** Time of publication in Unix seconds; `null` for a repost, whose time is unknown. */
  readonly seconds: number | null;
}

/** Returns the posts of a page in its order, without placeholders for unavailable posts. */
export function itemsOf({ items }: BrowseResult): readonly Item[] {
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
 * Returns a copy with `items` added. Keeps the last `maxRemembered` posts in the order of addition,
 * which can differ from the order of publication. If posts are removed, `floor` rises to the
 * earlier of two times: that of the newest removed post and that of the oldest remaining post. It
 * never falls.
 */
export function remember({ floor, seen }: Memory, items: readonly Item[]): Memory {
  const all = new Map(seen);
  for (const { key, seconds } of items) all.set(key, seconds);
  const removed = [...all].slice(0, Math.max(0, all.size - maxRemembered));
  if (removed.length === 0) return { floor, seen: all };
  for (const [key] of removed) all.delete(key);
  // A post can have a wrong time in the future, so the floor stays below the posts that are still
  // known.
  const oldestKept = Math.min(...timesOf([...all.values()]));
  const newestRemoved = Math.max(...timesOf(removed.map(([, seconds]) => seconds)));
  return { floor: Math.max(floor, Math.min(newestRemoved, oldestKept)), seen: all };
}

const timesOf = (times: readonly (number | null)[]) => times.filter((one) => one !== null);

function hasPinned([first, ...rest]: readonly Item[]): boolean {
  const next = rest.find(({ seconds }) => seconds !== null);
  return first?.seconds != null && next?.seconds != null && first.seconds < next.seconds;
}

const withoutPinned = (items: readonly Item[]): readonly Item[] =>
  hasPinned(items) ? items.slice(1) : items;

/** Returns `items` with a pinned post in its chronological position. */
export function inOrder(items: readonly Item[]): readonly Item[] {
  const [first] = items;
  if (first?.seconds == null || !hasPinned(items)) return items;
  const { seconds: own } = first;
  const rest = items.slice(1);
  const place = rest.findIndex(({ seconds }) => seconds !== null && seconds < own);
  return rest.toSpliced(place === -1 ? rest.length : place, 0, first);
}

/** Returns Unix seconds, without a pinned post; `undefined` if no post has a known time. */
export function oldestOf(items: readonly Item[]): number | undefined {
  const times = timesOf(withoutPinned(items).map(({ seconds }) => seconds));
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Returns `false` if the last post is known or was published at or before `floor`. */
export function mayContinue(page: readonly Item[], { floor, seen }: Memory): boolean {
  const last = page.at(-1);
  if (last === undefined) return true;
  return !seen.has(last.key) && (last.seconds === null || last.seconds > floor);
}

/**
 * Returns the new items of a list that is sorted newest first. A post is new if it was published
 * after `floor`. A repost is new if it is listed above a known item or above a post published after
 * `floor`; without a known item all reposts are new, unless this is the first read.
 */
export function selectNew(
  items: readonly Item[],
  { floor, seen }: Memory,
  { isFirst }: { readonly isFirst: boolean },
): readonly Item[] {
  // The position of a post does not matter, because platforms list some posts late.
  const isLater = ({ seconds }: Item) => seconds !== null && seconds > floor;
  const listed = withoutPinned(items);
  const lastKnown = listed.findLastIndex(({ key }) => seen.has(key));
  const lastLater = listed.findLastIndex(isLater);
  // The time of a repost is unknown. A repost is new if it is listed above a known item, or above a
  // post published after `floor`. If no item is known, all reposts are new, except on the first
  // read.
  const end = lastKnown === -1 && !isFirst ? listed.length : Math.max(lastKnown, lastLater);
  const pinned = items.length - listed.length;
  const keys = new Set<string>();
  return items.filter((item, index) => {
    const isKnown = seen.has(item.key) || keys.has(item.key);
    keys.add(item.key);
    if (isKnown) return false;
    return item.seconds === null ? index - pinned < end : isLater(item);
  });
}
