/** Returns the nearest name at most 2 edits and less than half of `word` away, or `undefined`. */
export function nearestName(word: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let most = Math.min(2, Math.floor((word.length - 1) / 2));
  for (const name of names) {
    const distance = editDistance(word.toLowerCase(), name, most);
    if (distance <= most) [nearest, most] = [name, distance - 1];
  }
  return nearest;
}

/** Returns the number of letters added, removed, changed or swapped, up to `most + 1`. */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: readonly number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const own = [row];
    for (let column = 1; column <= b.length; column += 1) {
      own.push(cheapest({ a, b, row, column }, [before, above, own]));
    }
    if (Math.min(...own) > most) return most + 1;
    before = above;
    above = own;
  }
  return above[b.length] ?? most + 1;
}

function cheapest(
  { a, b, row, column }: { a: string; b: string; row: number; column: number },
  [before, above, own]: readonly [readonly number[], readonly number[], readonly number[]],
): number {
  const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
  const [added = 0, dropped = 0, changed = 0] = [above[column], own[column - 1], above[column - 1]];
  const swapped = isSwapped ? (before[column - 2] ?? 0) : changed;
  const kept = a[row - 1] === b[column - 1] ? changed : changed + 1;
  return Math.min(added + 1, dropped + 1, kept, swapped + 1);
}
