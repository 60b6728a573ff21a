import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { isSameSecond, nextNumber } from './post-number.ts';

/** Wraps a write in a transaction. Joins an open transaction, because a nested transaction is as slow as a write. */
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

/** `wanted`: preferred number of the row. `values`: columns after the number. */
interface NumberedRow {
  readonly wanted: number;
  readonly values: readonly unknown[];
  readonly stored: number;
}

/**
 * Returns a function that writes rows whose number encodes their time (`toNumber`). A new row gets the next free
 * number. It replaces the row with the same `key` (the first columns after the number) unless that row was stored
 * later. If the numbers of both rows encode the same second, the new row reuses the number of the old row.
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
  /** Returns the numbers of the new row and of the row that it replaced, or `undefined` if a later row exists. */
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
