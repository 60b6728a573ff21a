/** Gives rows as a table for people, with its heads and columns aligned, one line for each row. */
export function toTable(
  heads: readonly string[],
  cellsOfRows: readonly (readonly string[])[],
): string {
  const rows = [heads, ...cellsOfRows];
  const widths = heads.map((_head, column) =>
    Math.max(...rows.map((cells) => widthOf(cells[column]))),
  );
  const lines = rows.map((cells) =>
    cells.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell))),
  );
  return lines.map((cells) => `${cells.join('  ').trimEnd()}\n`).join('');
}

function widthOf(cell = ''): number {
  return [...cell].length;
}
