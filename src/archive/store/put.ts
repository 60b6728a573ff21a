import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { isSameSecond, nextNumber } from './post-number.ts';

/**
 * Makes a write atomic: in a transaction of its own unless one is open, because a nested one costs as much as a row.
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

/** `wanted`: the number that the row should have; `values`: those after the number. */
interface NumberedRow {
  readonly wanted: number;
  readonly values: readonly unknown[];
  readonly stored: number;
}

/**
 * Prepares the write of rows whose number tells their time (`toNumber`); each takes the next free one. It replaces the
 * row with the same `key`, the first columns after the number, unless that was stored later; within a second its
 * number stays.
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
