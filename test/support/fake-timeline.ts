import {
  leastIdAt,
  readTimelineCursor,
  writeTimelineCursor,
} from '../../src/providers/fxtwitter/lists/timeline.ts';
import {
  type Fields,
  fxNoUser,
  fxPage,
  fxProfile,
  fxStatus,
  fxUser,
  toXTime,
} from './x-payloads.ts';

/**
 * Kind of an entry of a synthetic timeline. `reply`: a reply to another account, sent with the post that it
 * answers; `module`: a self-reply, sent with the older post once more; `gone`: a post that is not sent.
 */
export type EntryKind = 'post' | 'reply' | 'module' | 'repost' | 'self_repost' | 'gone';

/** Entry of a synthetic timeline. */
export interface Entry {
  readonly kind: EntryKind;
  /** Time of the post or repost in Unix milliseconds. */
  readonly ms: number;
}

/** Paging behaviour of a synthetic timeline. */
export interface TimelineHabits {
  /** Number of entries on a page. */
  readonly pageSize: number;
  /**
   * Share of short responses, 0 to 1: at most half a page for the first request of a page, and at most one
   * row for later ones. A short response never looks exactly like a full page.
   */
  readonly shortShare: number;
  /** Form of the last page: without a cursor, or with its own cursor. */
  readonly end: 'null' | 'same';
  /** Whether the first page starts with the oldest post, as a pinned post. */
  readonly hasPinned: boolean;
  /** Whether a page starts with the last entry of the page before it. */
  readonly repeats: boolean;
}

/** Range of posts of a synthetic timeline. */
export interface TimelineRange {
  readonly sinceSeconds: number | null;
  readonly untilSeconds: number | null;
  readonly withReplies: boolean;
  readonly withReposts: boolean;
  readonly onlyReplies: boolean;
}

/** Timeline of one X account, in the format of FxTwitter. */
export interface FakeTimeline {
  /** Returns the body for a path with query. `chance` returns a number from 0 to 1 for each response. */
  answer(url: string, chance: () => number): Fields;
  /** Returns all posts in a range, newest first. A post with several entries has the position of the newest one. */
  truth(range: TimelineRange): readonly { readonly id: string; readonly second: number }[];
}

/** Handle of the account with the timeline. */
export const timelineHandle = 'mira_holm';

const other = fxUser('ilse_brandt');
const owner = fxUser(timelineHandle);

interface Place extends Entry {
  /** Id that X sorts the entry by. For posts other than reposts, it is the id of the post. */
  readonly sortId: bigint;
  /** Id of the post. */
  readonly id: string;
  readonly rows: readonly Fields[];
}

/** Creates a timeline from entries in any order. */
export function createFakeTimeline(
  entries: readonly Entry[],
  habits: TimelineHabits,
): FakeTimeline {
  const places = toPlaces(entries);
  const asked = new Set<string>();
  const user = { ...owner, statuses: places.length, joined: joinedOf(places) };
  return {
    answer: (address, chance) => {
      const url = new URL(address, 'http://x.example');
      const [, , , handle = '', list] = url.pathname.split('/');
      if (handle.toLowerCase() !== timelineHandle) return fxNoUser;
      if (list !== 'statuses') return fxProfile(user);
      const hasReplies = url.searchParams.get('with_replies') === '1';
      const shown = places.filter(({ kind }) => hasReplies || kind !== 'reply');
      const isAskedAgain = asked.has(url.search);
      asked.add(url.search);
      return readPage(shown, url.searchParams.get('cursor'), { habits, chance, isAskedAgain });
    },
    truth: (range) => {
      const found = places.filter((place) => isIn(place, range)).toReversed();
      const newest = new Map(found.map(({ id, ms }) => [id, Math.floor(ms / 1000)]));
      return [...newest]
        .map(([id, second]) => ({ id, second }))
        .sort((a, b) => b.second - a.second);
    },
  };
}

/** Returns the creation date of the account: one day before the first post, so that a post rate can be computed. */
function joinedOf(places: readonly Place[]): string {
  const oldest = Math.min(Date.UTC(2026, 0, 1), ...places.map(({ ms }) => ms));
  return toXTime(Math.floor(oldest / 1000) - 86_400);
}

function toPlaces(entries: readonly Entry[]): readonly Place[] {
  const sorted = entries.toSorted((a, b) => b.ms - a.ms);
  const named = sorted.map((entry, index) => ({
    ...entry,
    sortId: leastIdAt(entry.ms) + BigInt(sorted.length - index),
  }));
  const used = new Set<bigint>();
  return named.map((entry, index) => {
    // A post cannot be reposted twice, and a page contains a post once, as a repost or in a thread.
    const older = named
      .slice(index + 1)
      .find(({ kind, sortId }) => kind === 'post' && !used.has(sortId));
    // Without an older post to repost or reply to, the entry is a plain post.
    const needsOlder = entry.kind === 'module' || entry.kind === 'self_repost';
    if (needsOlder && older !== undefined) used.add(older.sortId);
    const kind = needsOlder && older === undefined ? 'post' : entry.kind;
    return { ...entry, kind, ...toRows({ ...entry, kind }, older ?? entry) };
  });
}

type Named = Pick<Place, 'kind' | 'ms' | 'sortId'>;

function toRows({ kind, ms, sortId }: Named, older: Named): Pick<Place, 'id' | 'rows'> {
  const id = String(sortId);
  const own = toPost(sortId, ms, { author: owner });
  const parent = toPost(older.sortId, older.ms, { author: owner });
  switch (kind) {
    case 'post':
      return { id, rows: [own] };
    case 'gone':
      return { id, rows: [] };
    case 'reply': {
      const asked = toPost(sortId - 1000n, ms - 1000, { author: other });
      return { id, rows: [asked, { ...own, ...answering('ilse_brandt') }] };
    }
    case 'module':
      return { id, rows: [parent, { ...own, ...answering(timelineHandle) }] };
    case 'repost': {
      const originalMs = ms - 400 * 86_400_000;
      const original = leastIdAt(originalMs) + (sortId & 0xfffffn);
      const row = toPost(original, originalMs, { author: other, reposted_by: owner });
      return { id: String(original), rows: [row] };
    }
    case 'self_repost':
      return { id: String(older.sortId), rows: [{ ...parent, reposted_by: owner }] };
  }
}

function answering(screen_name: string): Fields {
  return { replying_to: { screen_name, status: '20', url: '', profile_url: '' } };
}

function toPost(id: bigint, ms: number, fields: Fields): Fields {
  const seconds = Math.floor(ms / 1000);
  const times = { created_at: toXTime(seconds), created_timestamp: seconds };
  return { ...fxStatus('1', times), id: String(id), text: `Post ${id}`, ...fields };
}

interface Sending {
  readonly habits: TimelineHabits;
  readonly chance: () => number;
  readonly isAskedAgain: boolean;
}

function readPage(
  places: readonly Place[],
  cursor: string | null,
  { habits, chance, isAskedAgain }: Sending,
): Fields {
  const below = cursor === null ? null : (readTimelineCursor(cursor)?.sortId ?? 0n);
  const found = places.findIndex(({ sortId }) => below === null || sortId < below);
  const start = found === -1 ? places.length : found;
  const end = Math.min(start + habits.pageSize, places.length);
  const isLast = end === places.length;
  const last = isLast && start === end ? undefined : places[end - 1];
  const bottom = toBottom(last, { cursor, isLast, habits });
  const rows = [
    ...extraRows(places, start, { habits, cursor }),
    ...places.slice(start, end).flatMap((place) => place.rows),
  ];
  const isShort = bottom !== null && chance() < habits.shortShare;
  const kept = Math.floor(chance() * (isAskedAgain ? 2 : rows.length / 2));
  return fxPage(isShort ? cutOff(rows, kept) : rows, bottom);
}

/** Truncates a page. Removes further rows if the rest would look like a full page. */
function cutOff(rows: readonly Fields[], kept: number): readonly Fields[] {
  const left = rows.slice(0, kept);
  const last = left.at(-1);
  // A post can be on a page twice: at its own position and above a reply to it.
  const isAtEnd = left.length >= 10 && last?.id === rows.at(-1)?.id;
  const isLong = left.length >= 20 && last?.reposted_by === owner;
  return isAtEnd || isLong ? cutOff(rows, kept - 1) : left;
}

function extraRows(
  places: readonly Place[],
  start: number,
  { habits, cursor }: { readonly habits: TimelineHabits; readonly cursor: string | null },
): readonly Fields[] {
  // A repost cannot be pinned.
  const pinned = places.findLast(({ kind }) => kind === 'post');
  if (cursor === null) return habits.hasPinned ? (pinned?.rows ?? []) : [];
  const before = places[start - 1];
  // There is no page before a synthetic cursor.
  const isOwn = before !== undefined && readTimelineCursor(cursor)?.sortId === before.sortId;
  return habits.repeats && isOwn ? before.rows : [];
}

function toBottom(
  last: Place | undefined,
  { cursor, isLast, habits }: { cursor: string | null; isLast: boolean; habits: TimelineHabits },
): string | null {
  const sortId = last?.sortId ?? (cursor === null ? undefined : readTimelineCursor(cursor)?.sortId);
  if (sortId === undefined || (isLast && habits.end === 'null')) return null;
  const issuedId = leastIdAt(Date.UTC(2026, 10, 21));
  return writeTimelineCursor({ issuedId, sortId, direction: 'bottom' });
}

function isIn({ kind, ms }: Place, range: TimelineRange): boolean {
  const { sinceSeconds: since, untilSeconds: until } = range;
  if (kind === 'gone') return false;
  if (since !== null && ms < since * 1000) return false;
  if (until !== null && ms >= until * 1000) return false;
  if (range.onlyReplies) return kind === 'reply';
  if (kind === 'reply') return range.withReplies;
  return range.withReposts || !kind.endsWith('repost');
}
