/**
 * Returns how many letters of a word have to be added, left out, changed or swapped with the next to get
 * another word; `most + 1` for more than `most`.
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: readonly number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const own = [row];
    for (let column = 1; column <= b.length; column += 1) {
      own.push(cheapest({ a, b, row, column }, { before, above, own }));
    }
    if (Math.min(...own) > most) return most + 1;
    before = above;
    above = own;
  }
  return above[b.length] ?? most + 1;
}

interface Cell {
  readonly a: string;
  readonly b: string;
  readonly row: number;
  readonly column: number;
}

interface Rows {
  readonly before: readonly number[];
  readonly above: readonly number[];
  readonly own: readonly number[];
}

function cheapest({ a, b, row, column }: Cell, { before, above, own }: Rows): number {
  const isSame = a[row - 1] === b[column - 1];
  const steps = [
    (above[column] ?? 0) + 1,
    (own[column - 1] ?? 0) + 1,
    (above[column - 1] ?? 0) + (isSame ? 0 : 1),
  ];
  const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
  if (row > 1 && column > 1 && isSwapped) steps.push((before[column - 2] ?? 0) + 1);
  return Math.min(...steps);
}
