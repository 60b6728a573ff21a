import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { isSameSecond, nextNumber } from './post-number.ts';

/**
 * Makes a write of several statements atomic: in a transaction of its own, unless the caller has begun
 * one. A transaction within another costs as much as the write of a small row.
 */
export function openPut<Row>(
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
  /** The number that the row should have. */
  readonly wanted: number;
  /** The values after the number. */
  readonly values: readonly unknown[];
  /** Unix seconds. */
  readonly stored: number;
}

/**
 * Prepares the write of rows whose number tells their time (`toNumber`). A row takes its number, or the
 * next free one. It replaces the row with the same key, unless that was stored later, and keeps the
 * number of that row if its second is the same.
 *
 * @param key The columns that identify a row, which come first after the number.
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
  /** Returns the number of the row and the one that it replaced; `undefined` if a later row stays. */
  return ({ wanted, values, stored }: NumberedRow) => {
    // Most rows are new and their number is free: one statement finds that out and is done.
    if (insert.run(wanted, ...values).changes === 1) return { number: wanted };
    const before = current.get(...values.slice(0, key.length));
    if (before !== undefined && before.stored > stored) return undefined;
    const keepsNumber = before !== undefined && isSameSecond(before.number, wanted);
    const number = keepsNumber ? before.number : findFree(wanted);
    replace.run(number, ...values);
    return { number, replaced: before?.number };
  };
}
