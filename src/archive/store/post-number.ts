import type { SqliteDatabase } from '../../lib/files/sqlite.ts';

/** Post numbers (row ids) reserved for each second. Later posts have higher ids, until 2242. */
const step = 2 ** 20;
const lastSecond = 2 ** 33 - 1;

/** Exclusive upper bound of all post numbers (row ids of posts and reposts). */
export const endOfNumbers: number = (lastSecond + 1) * step;

interface Numbered {
  readonly kind: 'post' | 'repost';
  /** Unix second of the post or repost. The fraction determines the order within a second. */
  readonly at: number;
  /** Key that is unique among posts, or among reposts. A post and a repost can share a key. */
  readonly key: string;
}

/** Returns the lowest post number at or after a time in Unix seconds. Clamps times out of range. */
export const firstNumberAt = (seconds: number): number => toSecond(Math.ceil(seconds)) * step;

/** Returns the preferred number, the same in every archive. If it is taken, use `nextNumber`. */
export function toNumber({ kind, at, key }: Numbered): number {
  const second = toSecond(Math.floor(at));
  const ms = Math.min(Math.max(Math.round((at - second) * 1000), 0), 999) || 0;
  const tie = ms === 0 ? hash(key) % 2 ** 19 : ms * 2 ** 9 + (hash(key) % 2 ** 9);
  return second * step + tie * 2 + (kind === 'repost' ? 1 : 0);
}

/** Returns the number to try if `number` is taken: same second, same kind (post or repost). */
export function nextNumber(number: number): number {
  const start = number - (number % step);
  return start + ((number - start + 2) % step);
}

export const isSameSecond = (one: number, other: number): boolean =>
  secondOf(one) === secondOf(other);

/** Returns the Unix second that a post number encodes, with the milliseconds if it has them. */
export function timeOf(number: number, { kind, key }: Pick<Numbered, 'kind' | 'key'>): number {
  const second = secondOf(number);
  if (toNumber({ kind, key, at: second }) === number) return second;
  const ms = Math.floor((number - second * step) / 2 / 2 ** 9);
  return second + ms / 1000;
}

export const secondOf = (number: number): number => Math.floor(number / step);

function toSecond(seconds: number): number {
  return Math.min(Math.max(seconds, 0), lastSecond) || 0; // NaN counts as 0
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

/** Runs `write` in a transaction, or within the transaction that is already open. */
export function openAtomicWriter<Row>(
  database: SqliteDatabase,
  write: (row: Row) => void,
): (row: Row) => void {
  const alone = database.transaction(write);
  return (row) => {
    if (database.inTransaction) write(row);
    else alone.immediate(row);
  };
}

interface NumberedRow {
  /** Post number to use if no other row has it. */
  readonly wanted: number;
  /** Values of the columns after the post number. */
  readonly values: readonly unknown[];
  /** Unix second of the row. A row does not replace a later one. */
  readonly stored: number;
}

/**
 * Returns a function that inserts a row, or replaces the row with equal `key` columns (the first
 * after the post number) unless that one is newer. The row gets the number `wanted` or the next
 * free one; a replacement keeps the old number if it encodes the same second. `columns`: number of
 * columns of `table`.
 */
export function openNumberedWriter(
  database: SqliteDatabase,
  {
    table,
    columns,
    key,
  }: { readonly table: string; readonly columns: number; readonly key: string[] },
) {
  const values = `VALUES (${Array(columns).fill('?').join(', ')})`;
  const insert = database.prepare(`INSERT OR IGNORE INTO ${table} ${values}`);
  const replace = database.prepare(`INSERT OR REPLACE INTO ${table} ${values}`);
  const taken = database.prepare(`SELECT 1 FROM ${table} WHERE number = ?`);
  const current = database.prepare<unknown[], { readonly number: number; readonly stored: number }>(
    `SELECT number, stored FROM ${table} WHERE ${key.map((column) => `${column} = ?`).join(' AND ')}`,
  );
  const findFree = (wanted: number): number => {
    let number = wanted;
    while (taken.get(number) !== undefined) number = nextNumber(number);
    return number;
  };
  /** Returns the numbers of the new and the replaced row; `undefined` if nothing was written. */
  return ({ wanted, values, stored }: NumberedRow) => {
    // Most rows are new and their number is free, so one statement is enough.
    if (insert.run(wanted, ...values).changes === 1) return { number: wanted };
    const before = current.get(...values.slice(0, key.length));
    if (before !== undefined && before.stored > stored) return undefined;
    const keepsNumber = before !== undefined && isSameSecond(before.number, wanted);
    const number = keepsNumber ? before.number : findFree(wanted);
    replace.run(number, ...values);
    return { number, replaced: before?.number };
  };
}
