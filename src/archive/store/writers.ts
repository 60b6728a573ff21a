import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { isSameSecond, nextNumber } from './post-number.ts';

/** Returns a function that runs `write` in a transaction, or within the transaction that is already open. */
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
  /** Time of the row in Unix seconds. A row does not replace a row with a later time. */
  readonly stored: number;
}

/**
 * Returns a function that inserts a row, or replaces the row with equal `key` columns (the first columns after the post
 * number). If the stored row is newer, the function writes nothing. The row gets the post number `wanted`, or the next
 * free number if `wanted` is taken. A replacement keeps the number of the replaced row if that number encodes the same
 * second as `wanted`. `columns`: number of columns of `table`.
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
  /**
   * Writes a row, unless the existing row is newer. Returns the post numbers of the new row and of
   * the replaced row; `undefined` if nothing was written.
   */
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
