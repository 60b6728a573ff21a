import { setImmediate } from 'node:timers/promises';
import { openStore, type SqliteDatabase } from '../../lib/files/sqlite.ts';
import type { Post } from '../../model/post.ts';
import type { AccountReference, PostReference } from '../../model/reference.ts';
import { clipRanges, joinRanges, type SecondRange } from '../../normalize/times.ts';
import { openProtection } from '../store/account-rows.ts';
import { migrations } from '../store/schema.ts';
import { createRowDecoder, type RowDecoder } from '../store/stored-json.ts';

export interface StoredHistoryPost {
  readonly post: Post;
  /** Unix second of the post; for a repost, whose time is unknown, the latest possible. */
  readonly second: number;
  /** Earliest possible Unix second: `second` for a post, maybe `-Infinity` for a repost. */
  readonly belowSecond: number;
  /** Unix second at which the post was fetched. */
  readonly stored: number;
}

export interface StoredTimeline {
  readonly account: AccountReference;
  /** Id of the account. Several accounts can have had the same handle at different times. */
  readonly accountId: string;
  readonly withReplies: boolean;
  readonly withReposts: boolean;
}

interface StoredHistoryQuery extends StoredTimeline {
  readonly range: SecondRange;
  /** Maximum number of posts to return, newest first. */
  readonly limit: number;
}

export interface StoredPart {
  /** Time ranges for which all posts are stored, newest first, adjacent ones merged. */
  readonly ranges: readonly SecondRange[];
  /** Posts in `ranges`, newest first, and reposts whose possible times overlap a range. */
  readonly posts: readonly StoredHistoryPost[];
}

type FetchedPart = StoredTimeline & StoredPart;

/** Store of fetched timelines, from which later requests are served. Close it with `close()`. */
export type HistoryStore = ReturnType<typeof prepareStore>;

type StoreOptions = { readonly baseUrl: string; readonly maxBytes: number };

/** Opens the store in the archive's database. @throws Error if the file is unusable */
export const openHistoryStore = (options: StoreOptions & { readonly path: string }): HistoryStore =>
  openStore({ path: options.path, migrations }, (database) => prepareStore(database, options));

function prepareStore(database: SqliteDatabase, { baseUrl, maxBytes }: StoreOptions) {
  const decoder = createRowDecoder({ baseUrl, isProtected: openProtection(database), links: null });
  return {
    has: openHas(database),
    read: openRead(database, decoder),
    /** Replaces the stored posts of the fetched time ranges, then applies the size limit. */
    put: openPut(database, openHistoryBound(database, maxBytes)),
    delete: openHistoryDelete(database),
    /** Deletes a post that was deleted upstream, or all posts of a deleted account. */
    deleteGone: openGoneDeletion(database),
    close: () => void database.close(),
  };
}

/** Returns a function that deletes an account's timelines and returns the number of posts. */
export function openHistoryDelete(database: SqliteDatabase): (account: AccountReference) => number {
  const [ranges, posts] = ['kept_ranges', 'kept_posts'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE platform = ? AND handle = ?`),
  );
  const drop = database.transaction((account: AccountReference): number => {
    ranges?.run(...namesOf(account));
    return posts?.run(...namesOf(account)).changes ?? 0;
  });
  return (account) => (database.inTransaction ? drop(account) : drop.immediate(account));
}

function openGoneDeletion(database: SqliteDatabase) {
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
  const [has, deleteHistory] = [openHas(database), openHistoryDelete(database)];
  return (gone: PostReference | AccountReference): void => {
    if (!('id' in gone) && has(gone)) deleteHistory(gone);
    const author = gone.handle?.toLowerCase() ?? '';
    const numbers =
      'id' in gone
        ? byKey.pluck().all(gone.platform, gone.id, author)
        : byAuthor.pluck().all(gone.platform, author);
    if (numbers.length > 0) removeAll.immediate(numbers);
  };
}

function openHas(database: SqliteDatabase) {
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

function openRead(database: SqliteDatabase, decoder: RowDecoder) {
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
  return (query: StoredHistoryQuery): StoredPart => {
    const [options, names] = [optionsOf(query), namesOf(query.account)];
    const rows = ranges.all(...names, query.accountId, ...options);
    const stored = clipRanges(joinRanges(rows.map(toRange)), query.range);
    const [first, last] = [stored[0], stored.at(-1)];
    if (first === undefined || last === undefined) return { ranges: [], posts: [] };
    const ends = [toStored(last.fromSecond), first.toSecond, query.limit + 1];
    return limitPart(stored, posts.all(...names, ...options, ...ends), { query, decoder });
  };
}

function limitPart(
  stored: readonly SecondRange[],
  rows: readonly PostRow[],
  { query, decoder }: { readonly query: StoredHistoryQuery; readonly decoder: RowDecoder },
): StoredPart {
  const fromSecond =
    rows.length > query.limit ? (rows.at(-1)?.second ?? 0) + 1 : Number.NEGATIVE_INFINITY;
  const ranges = clipRanges(stored, { fromSecond, toSecond: Number.POSITIVE_INFINITY });
  const overlaps = ({ second, below_second: below }: PostRow) =>
    ranges.some(({ fromSecond, toSecond }) => second >= fromSecond && below <= toSecond);
  const posts = rows.filter(overlaps).map(({ second, below_second: below, stored, json }) => {
    return { post: decoder.post(json), second, belowSecond: fromStored(below), stored };
  });
  return { ranges, posts };
}

const postsPerTransaction = 250;

/**
 * Returns a function that stores posts in several transactions. Only the last one marks the time
 * ranges as complete, so that an interrupted write never marks an incomplete range.
 */
function openPut(database: SqliteDatabase, bound: ReturnType<typeof openHistoryBound>) {
  const others = database.prepare(
    'SELECT 1 FROM kept_ranges WHERE platform = ? AND handle = ? AND account_id <> ?',
  );
  const deleteHistory = openHistoryDelete(database);
  const insert = database.prepare(
    'INSERT OR REPLACE INTO kept_posts VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const begin = database.transaction((part: FetchedPart) => {
    const isOtherAccount = others.get(...namesOf(part.account), part.accountId) !== undefined;
    if (isOtherAccount) deleteHistory(part.account);
  });
  const write = database.transaction((names: readonly string[], rows: readonly Row[]) => {
    for (const row of rows) insert.run(...names, ...row);
  });
  const [removeAbsent, addRanges] = [openAbsentRemoval(database), openRangeWriter(database)];
  const has = database.prepare(
    'SELECT 1 FROM kept_posts WHERE platform = ? AND handle = ? AND key = ? AND repost = ?',
  );
  const end = database.transaction((part: FetchedPart, rows: readonly Row[]) => {
    const names = namesOf(part.account);
    // If a post was deleted during the write, the ranges are not complete.
    if (!rows.every(([key, , repost]) => has.get(...names, key, repost) !== undefined)) return;
    removeAbsent(part, rows);
    addRanges(part);
  });
  return async (part: FetchedPart): Promise<void> => {
    begin.immediate(part);
    const rows: Row[] = [];
    for (let from = 0; from < part.posts.length; from += postsPerTransaction) {
      const posts = part.posts.slice(from, from + postsPerTransaction);
      const more = posts.map((post, index) => toRow(post, from + index));
      write.immediate(namesOf(part.account), more);
      rows.push(...more);
      await setImmediate();
    }
    end.immediate(part, rows);
    await bound(estimateBytes(rows.map((row) => row[8])));
  };
}

function openAbsentRemoval(database: SqliteDatabase) {
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

function openRangeWriter(database: SqliteDatabase): (part: FetchedPart) => void {
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

type Row = readonly [
  ...[key: string, author: string, repost: number, answersOther: number],
  ...[second: number, below: number, place: number, stored: number, json: string],
];

function toRow({ post, second, belowSecond, stored }: StoredHistoryPost, place: number): Row {
  const json = JSON.stringify(post);
  const author = post.author?.screen_name.toLowerCase() ?? '';
  const isRepost = post.type !== 'status' || post.reposted_by !== null;
  const isAnswer = !isRepost && answersOther(post);
  const at = [second, toStored(belowSecond), place] as const;
  return [post.id ?? json, author, Number(isRepost), Number(isAnswer), ...at, stored, json];
}

function answersOther(post: Extract<Post, { type: 'status' }>): boolean {
  const { replying_to: to, author, platform } = post;
  if (to === null) return false;
  if (to.screen_name === null) return platform !== 'x';
  return to.screen_name.toLowerCase() !== author.screen_name.toLowerCase();
}

function toRange({ from_second: from, to_second: toSecond }: RangeRow): SecondRange {
  return { fromSecond: fromStored(from), toSecond };
}

const startOfTimeline = Number.MIN_SAFE_INTEGER; // replaces `-Infinity`, because the columns are integers

const toStored = (second: number): number => Math.max(second, startOfTimeline);

const fromStored = (second: number): number =>
  second === startOfTimeline ? Number.NEGATIVE_INFINITY : second;

/** Estimated bytes of a row of `kept_posts` and its index entries, without the JSON of the post. */
const rowBytes = 300;

/** Number of rows that one step reads or deletes; a step takes a few milliseconds. */
const rowsPerStep = 500;

/** Part of the limit that a deletion leaves in use, so that the next write deletes nothing. */
const keptShare = 0.9;

interface SizeRow {
  readonly number: number;
  readonly platform: string;
  readonly handle: string;
  readonly bytes: number;
  readonly stored: number;
}

interface StoredAccount {
  readonly names: readonly [platform: string, handle: string];
  bytes: number;
  /** Unix second at which the latest of the posts was fetched. */
  stored: number;
}

const estimateBytes = (posts: readonly string[]): number =>
  posts.reduce((sum, json) => sum + rowBytes + Buffer.byteLength(json), 0);

function openHistoryBound(database: SqliteDatabase, maxBytes: number) {
  const [readAccounts, remove] = [openAccountReader(database), openRemoval(database)];
  let estimate = Number.POSITIVE_INFINITY;
  let last = Promise.resolve();
  const trim = async (): Promise<void> => {
    if (estimate <= maxBytes) return;
    const accounts = (await readAccounts()).toSorted((a, b) => a.stored - b.stored);
    let total = accounts.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { names, bytes } of total > maxBytes * keptShare ? accounts : []) {
      if (total <= maxBytes * keptShare) break;
      await remove(names);
      total -= bytes;
    }
    estimate = total;
  };
  return (writtenBytes: number): Promise<void> => {
    estimate += writtenBytes;
    last = last.catch(() => undefined).then(trim); // a failed call has reported its own error
    return last;
  };
}

function openAccountReader(database: SqliteDatabase) {
  const select = database.prepare<unknown[], SizeRow>(
    `SELECT number, platform, handle, octet_length(json) AS bytes, stored FROM kept_posts
     WHERE number > ? ORDER BY number LIMIT ${rowsPerStep}`,
  );
  return async (): Promise<readonly StoredAccount[]> => {
    const accounts = new Map<string, StoredAccount>();
    let rows = select.all(0);
    for (; rows.length > 0; rows = select.all(rows.at(-1)?.number)) {
      for (const { platform, handle, bytes, stored } of rows) {
        const key = `${platform} ${handle}`;
        const account = accounts.get(key) ?? { names: [platform, handle], bytes: 0, stored };
        account.bytes += rowBytes + bytes;
        account.stored = Math.max(account.stored, stored);
        accounts.set(key, account);
      }
      await setImmediate();
    }
    return [...accounts.values()];
  };
}

function openRemoval(database: SqliteDatabase) {
  const ranges = database.prepare('DELETE FROM kept_ranges WHERE platform = ? AND handle = ?');
  const posts = database.prepare(
    `DELETE FROM kept_posts WHERE number IN
       (SELECT number FROM kept_posts WHERE platform = ? AND handle = ? LIMIT ${rowsPerStep})`,
  );
  // A write of the same account between two steps can mark a range as complete, so each step
  // deletes the ranges.
  const step = database.transaction((names: StoredAccount['names']): number => {
    ranges.run(...names);
    return posts.run(...names).changes;
  });
  return async (names: StoredAccount['names']): Promise<void> => {
    while (step.immediate(names) > 0) await setImmediate();
  };
}
