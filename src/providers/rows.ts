import { mapInSlices, type Sliced } from '../core/scheduling/slices.ts';
import { maximums } from '../platforms/maximums.ts';

/** The rows of a list that were read, and how many were not. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly unreadable: number;
  /** Rows after the last one that a list may have. */
  readonly beyond: number;
}

/** Reads a list row by row, so that an unreadable row costs only itself; `null` for what is no list. */
export async function parseRows<Row>(
  list: unknown,
  parseRow: (row: unknown) => Row | null,
  sliced: Sliced,
): Promise<Rows<Row> | null> {
  if (!Array.isArray(list)) return null;
  const sent = list.slice(0, maximums.rows);
  const rows = (await mapInSlices(sent, parseRow, sliced)).filter((row) => row !== null);
  return { rows, unreadable: sent.length - rows.length, beyond: list.length - sent.length };
}

/** Returns how many rows the source sent. */
export function countSent({ rows, unreadable, beyond }: Rows<unknown>): number {
  return rows.length + unreadable + beyond;
}
