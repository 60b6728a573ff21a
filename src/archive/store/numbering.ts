import type { SqliteDatabase } from '../../core/files/sqlite.ts';
import { isSameSecond, nextNumber } from './post-number.ts';

/**
 * Prepares what finds the number of a row whose own number may be taken: the one that it has already,
 * as long as its second is the same, else the next one that is free.
 *
 * @param before The number that the row has in the table; undefined where it is new.
 */
export function openNumbering(
  database: SqliteDatabase,
  table: 'posts' | 'reposts',
): (wanted: number, before: number | undefined) => number {
  const taken = database.prepare(`SELECT 1 FROM ${table} WHERE number = ?`);
  return (wanted, before) => {
    if (before !== undefined && isSameSecond(before, wanted)) return before;
    let number = wanted;
    while (taken.get(number) !== undefined) number = nextNumber(number);
    return number;
  };
}
