export type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

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

export function toJsonLines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/** Formats a number with a noun in the singular or regular plural: `1 post`, `2,345 posts`. */
export function countOf(count: number, noun: string): string {
  return `${toCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function toCount(count: number): string {
  return count.toLocaleString('en');
}

export function toElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
