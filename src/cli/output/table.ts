/** The columns of a table by their heads, each with the function that returns the cell of a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

/** Returns rows as a table for people: the heads, then a line for each row, in aligned columns. */
export function toTable<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const columnsOfCells = Object.entries(columns).map(([head, toCell]) => {
    const cells = [head, ...rows.map(toCell)];
    const width = Math.max(...cells.map(widthOf));
    return cells.map((cell) => cell + ' '.repeat(width - widthOf(cell)));
  });
  const lines = ['', ...rows].map((_, line) => columnsOfCells.map((cells) => cells[line]));
  return lines.map((cells) => `${cells.join('  ').trimEnd()}\n`).join('');
}

function widthOf(cell: string): number {
  return [...cell].length;
}

/** Returns a line of JSON for each value. */
export function toJsonLines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** Returns a number as people write it: `12,345`. */
export function toCount(count: number): string {
  return count.toLocaleString('en');
}
