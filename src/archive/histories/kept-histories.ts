import { setImmediate } from 'node:timers/promises';
import { openStore, type SqliteDatabase } from '../../core/files/sqlite.ts';
import type { Post } from '../../model/post.ts';
import type { AccountReference, PostReference } from '../../model/reference.ts';
import { clipRanges, joinRanges, type SecondRange } from '../../platforms/second-ranges.ts';
import { openProtection } from '../store/account-rows.ts';
import { migrations } from '../store/schema.ts';
import { createRevive, type Revive } from '../store/stored-json.ts';

export interface KeptPost {
  readonly post: Post;
  /** The second that it stands at. A repost, whose own is not known, was made then or before. */
  readonly second: number;
  /** A repost was made then or after; minus infinity where that is not known. Else the same second. */
  readonly belowSecond: number;
  /** When it was fetched, in Unix seconds. */
  readonly stored: number;
}

export interface KeptTimeline {
  readonly account: AccountReference;
  /** The account's id: a handle can become another's. */
  readonly accountId: string;
  /** Whether the replies to others are among the posts. */
  readonly withReplies: boolean;
  readonly withReposts: boolean;
}

export interface KeptQuery extends KeptTimeline {
  readonly range: SecondRange;
  /** The most posts that are given; what is older than those counts as not kept. */
  readonly limit: number;
}

export interface KeptPart {
  /** What is kept as a whole, newest first; these do not touch. */
  readonly ranges: readonly SecondRange[];
  /** The posts that stand there, or may, newest first. */
  readonly posts: readonly KeptPost[];
}

/** Parts of a timeline that were fetched as a whole, with all that stands or may stand there. */
export interface FetchedPart extends KeptTimeline {
  readonly ranges: readonly SecondRange[];
  readonly posts: readonly KeptPost[];
}

/** Keeps the timelines that were imported, to answer nothing but imports. Close it with `close()`. */
export type HistoryKeep = ReturnType<typeof prepareKeep>;

/** Opens the imported histories in the archive's database. @throws Error as `openArchiveStore` does */
export function openHistoryKeep(path: string, baseUrl: string): HistoryKeep {
  return openStore({ path, migrations }, (database) => prepareKeep(database, baseUrl));
}

function prepareKeep(database: SqliteDatabase, baseUrl: string) {
  const revive = createRevive(baseUrl, openProtection(database));
  return {
    holds: openHolds(database),
    /** Reads what was kept with the same posts or more. */
    read: openRead(database, revive),
    /** Takes the place of what was kept of these parts. */
    put: openPut(database),
    /** Forgets an account; returns how many posts were kept of it. */
    drop: openKeptDrop(database),
    /** Forgets a post, or an account and its posts, that a source says is gone, in every history. */
    dropGone: openDropGone(database),
    close: () => void database.close(),
  };
}

export function openKeptDrop(database: SqliteDatabase): (account: AccountReference) => number {
  const [ranges, posts] = ['kept_ranges', 'kept_posts'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE platform = ? AND handle = ?`),
  );
  const drop = database.transaction((account: AccountReference): number => {
    ranges?.run(...namesOf(account));
    return posts?.run(...namesOf(account)).changes ?? 0;
  });
  return (account) => (database.inTransaction ? drop(account) : drop.immediate(account));
}

/** Most of what is gone was never kept: that is found out without a lock. */
function openDropGone(database: SqliteDatabase) {
  const byKey = database.prepare<unknown[], number>(
    `SELECT number FROM kept_posts WHERE platform = ? AND key = ? AND (platform = 'x' OR author = ?)`,
  );
  const byAuthor = database.prepare<unknown[], number>(
    'SELECT number FROM kept_posts WHERE platform = ? AND author = ?',
  );
  const remove = database.prepare('DELETE FROM kept_posts WHERE number = ?');
  const removeAll = database.transaction((numbers: readonly number[]) => {
    for (const number of numbers) remove.run(number);
  });
  const [holds, drop] = [openHolds(database), openKeptDrop(database)];
  return (gone: PostReference | AccountReference): void => {
    if (!('id' in gone) && holds(gone)) drop(gone);
    const author = gone.handle?.toLowerCase() ?? '';
    const numbers =
      'id' in gone
        ? byKey.pluck().all(gone.platform, gone.id, author)
        : byAuthor.pluck().all(gone.platform, author);
    if (numbers.length > 0) removeAll.immediate(numbers);
  };
}

function openHolds(database: SqliteDatabase) {
  const any = database.prepare('SELECT 1 FROM kept_ranges WHERE platform = ? AND handle = ?');
  return (account: AccountReference): boolean => any.get(...namesOf(account)) !== undefined;
}

interface RangeRow {
  readonly from_second: number;
  readonly to_second: number;
}

interface PostRow {
  readonly second: number;
  readonly below_second: number;
  readonly repost: number;
  readonly stored: number;
  readonly json: string;
}

/** What was kept with replies and reposts has also what is asked for without them. */
function openRead(database: SqliteDatabase, revive: Revive) {
  const ranges = database.prepare<unknown[], RangeRow>(
    `SELECT from_second, to_second FROM kept_ranges WHERE platform = ? AND handle = ?
       AND account_id = ? AND with_replies >= ? AND with_reposts >= ?`,
  );
  const posts = database.prepare<unknown[], PostRow>(
    `SELECT second, below_second, repost, stored, json FROM kept_posts
     WHERE platform = ? AND handle = ? AND answers_other <= ? AND repost <= ? AND second >= ?
       AND CASE repost WHEN 0 THEN second ELSE below_second END <= ?
     ORDER BY second DESC, place LIMIT ?`,
  );
  return (query: KeptQuery): KeptPart => {
    const [options, names] = [optionsOf(query), namesOf(query.account)];
    const rows = ranges.all(...names, query.accountId, ...options);
    const kept = clipRanges(joinRanges(rows.map(toRange)), query.range);
    const [first, last] = [kept[0], kept.at(-1)];
    if (first === undefined || last === undefined) return { ranges: [], posts: [] };
    const ends = [toStored(last.fromSecond), first.toSecond, query.limit + 1];
    const found = posts.all(...names, ...options, ...ends);
    return limitPart(kept, found, { query, revive });
  };
}

/** Takes off what is older than the posts that may be given. */
function limitPart(
  kept: readonly SecondRange[],
  rows: readonly PostRow[],
  { query, revive }: { readonly query: KeptQuery; readonly revive: Revive },
): KeptPart {
  const fromSecond =
    rows.length > query.limit ? (rows.at(-1)?.second ?? 0) + 1 : Number.NEGATIVE_INFINITY;
  const ranges = clipRanges(kept, { fromSecond, toSecond: Number.POSITIVE_INFINITY });
  const isPartly = ({ second, below_second: below }: PostRow) =>
    ranges.some(({ fromSecond, toSecond }) => second >= fromSecond && below <= toSecond);
  const posts = rows.filter(isPartly).map(({ second, below_second: below, stored, json }) => {
    return { post: revive.post(json), second, belowSecond: fromStored(below), stored };
  });
  return { ranges, posts };
}

/** So many posts are written at once, in about 20 ms; others wait for their turn meanwhile. */
const piece = 250;

/**
 * Writes the posts, which are true whenever they are read, then in one step what is kept as a whole from now on.
 * Whoever stops in between has lost nothing.
 */
function openPut(database: SqliteDatabase) {
  const others = database.prepare(
    'SELECT 1 FROM kept_ranges WHERE platform = ? AND handle = ? AND account_id <> ?',
  );
  const drop = openKeptDrop(database);
  const insert = database.prepare(
    'INSERT OR REPLACE INTO kept_posts VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const begin = database.transaction((part: FetchedPart) => {
    const isOther = others.get(...namesOf(part.account), part.accountId) !== undefined;
    if (isOther) drop(part.account);
  });
  const write = database.transaction((names: readonly string[], rows: readonly Row[]) => {
    for (const row of rows) insert.run(...names, ...row);
  });
  const [clear, cover] = [openClear(database), openCover(database)];
  const has = database.prepare(
    'SELECT 1 FROM kept_posts WHERE platform = ? AND handle = ? AND key = ? AND repost = ?',
  );
  const end = database.transaction((part: FetchedPart, rows: readonly Row[]) => {
    const names = namesOf(part.account);
    // What was dropped while it was written is not kept as a whole.
    if (!rows.every(([key, , repost]) => has.get(...names, key, repost) !== undefined)) return;
    clear(part, rows);
    cover(part);
  });
  return async (part: FetchedPart): Promise<void> => {
    begin.immediate(part);
    const rows: Row[] = [];
    for (let from = 0; from < part.posts.length; from += piece) {
      const posts = part.posts.slice(from, from + piece);
      const more = posts.map((post, index) => toRow(post, from + index));
      write.immediate(namesOf(part.account), more);
      rows.push(...more);
      await setImmediate();
    }
    end.immediate(part, rows);
  };
}

/** Removes what stood in the ranges and was not found there any more. */
function openClear(database: SqliteDatabase) {
  const select = database.prepare<unknown[], { number: number; key: string; repost: number }>(
    `SELECT number, key, repost FROM kept_posts WHERE platform = ? AND handle = ?
       AND answers_other <= ? AND repost <= ? AND below_second >= ? AND second <= ?`,
  );
  const remove = database.prepare('DELETE FROM kept_posts WHERE number = ?');
  return (part: FetchedPart, rows: readonly Row[]): void => {
    const found = new Set(rows.map(([key, , repost]) => `${repost} ${key}`));
    const of = [...namesOf(part.account), ...optionsOf(part)];
    for (const { fromSecond, toSecond } of part.ranges) {
      for (const { number, key, repost } of select.all(...of, toStored(fromSecond), toSecond)) {
        if (!found.has(`${repost} ${key}`)) remove.run(number);
      }
    }
  };
}

/** Notes ranges, joined with those that they touch: there are never more rows than holes. */
function openCover(database: SqliteDatabase): (part: FetchedPart) => void {
  const of = 'platform = ? AND handle = ? AND with_replies = ? AND with_reposts = ?';
  const select = database.prepare<unknown[], RangeRow>(
    `SELECT from_second, to_second FROM kept_ranges WHERE ${of}`,
  );
  const remove = database.prepare(`DELETE FROM kept_ranges WHERE ${of}`);
  const insert = database.prepare('INSERT INTO kept_ranges VALUES (?, ?, ?, ?, ?, ?, ?)');
  return (part) => {
    const key = [...namesOf(part.account), ...optionsOf(part)];
    const ranges = joinRanges([...select.all(...key).map(toRange), ...part.ranges]);
    remove.run(...key);
    for (const { fromSecond, toSecond } of ranges) {
      insert.run(...key, toStored(fromSecond), toSecond, part.accountId);
    }
  };
}

function namesOf({ platform, handle }: AccountReference): readonly [string, string] {
  return [platform, handle.toLowerCase()];
}

type Options = Pick<FetchedPart, 'withReplies' | 'withReposts'>;

function optionsOf({ withReplies, withReposts }: Options): readonly [number, number] {
  return [Number(withReplies), Number(withReposts)];
}

/** The columns after the handle. */
type Row = readonly [
  ...[key: string, author: string, repost: number, answersOther: number],
  ...[second: number, below: number, place: number, stored: number, json: string],
];

/** Two places show a post that its own author reposted. */
function toRow({ post, second, belowSecond, stored }: KeptPost, place: number): Row {
  const json = JSON.stringify(post);
  const author = post.author?.screen_name.toLowerCase() ?? '';
  const isRepost = post.type !== 'status' || post.reposted_by !== null;
  const isAnswer = !isRepost && answersOther(post);
  const at = [second, toStored(belowSecond), place] as const;
  return [post.id ?? json, author, Number(isRepost), Number(isAnswer), ...at, stored, json];
}

/** A reply to somebody unknown stands among the posts on X, and among the replies elsewhere. */
function answersOther(post: Extract<Post, { type: 'status' }>): boolean {
  const { replying_to: to, author, platform } = post;
  if (to === null) return false;
  if (to.screen_name === null) return platform !== 'x';
  return to.screen_name.toLowerCase() !== author.screen_name.toLowerCase();
}

function toRange({ from_second: from, to_second: toSecond }: RangeRow): SecondRange {
  return { fromSecond: fromStored(from), toSecond };
}

/** Stands for the beginning of a timeline, for the columns are whole numbers. */
const beginning = Number.MIN_SAFE_INTEGER;

function toStored(second: number): number {
  return Math.max(second, beginning);
}

function fromStored(second: number): number {
  return second === beginning ? Number.NEGATIVE_INFINITY : second;
}
