import type { SqliteDatabase } from '../../core/files/sqlite.ts';

/**
 * Makes a write of several statements whole: in a transaction of its own, unless the caller has begun
 * one already. A transaction within another costs as much as the write of a small row.
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
