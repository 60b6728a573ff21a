import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { isSameSecond, nextNumber } from './post-number.ts';

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
