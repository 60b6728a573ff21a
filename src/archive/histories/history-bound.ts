import { setImmediate } from 'node:timers/promises';
import type { SqliteDatabase } from '../../core/files/sqlite.ts';

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

export const estimateBytes = (posts: readonly string[]): number =>
  posts.reduce((sum, json) => sum + rowBytes + Buffer.byteLength(json), 0);

/**
 * Creates a function that limits the total size of stored histories. Call it after each write, with
 * the number of written bytes. Above the limit, it deletes the histories of whole accounts, those
 * fetched the longest ago first.
 */
export function openHistoryBound(database: SqliteDatabase, maxBytes: number) {
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
