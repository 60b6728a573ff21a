/** Rows of a list, and how many more of them could not be read. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly unreadable: number;
}

/** Reads a list row by row, so that one bad row costs only itself; null when there is no list. */
export function parseRows<Row>(
  list: unknown,
  parseRow: (row: unknown) => Row | null,
): Rows<Row> | null {
  if (!Array.isArray(list)) return null;
  const rows = list.map(parseRow).filter((row) => row !== null);
  return { rows, unreadable: list.length - rows.length };
}
