/** The longest word that is compared; nobody misspells a longer one into a name. */
const maxLength = 40;

/**
 * Returns the name that a word is most likely a misspelling of: one or two letters added, left out,
 * changed or swapped, and fewer than half of them. Undefined if there is none.
 */
export function nearestName(word: string, names: Iterable<string>): string | undefined {
  if (word.length > maxLength) return undefined;
  let nearest: string | undefined;
  let least = Math.min(2, Math.floor((word.length - 1) / 2)) + 1;
  for (const name of names) {
    const distance = name.length > maxLength ? least : editDistance(word.toLowerCase(), name);
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}

/** The distances of the beginnings of a word to all beginnings of another, row by row. */
type Row = readonly number[];

/** Returns how many letters have to be added, removed, changed or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  let beforeLast: Row = [];
  let last: Row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 1; at <= from.length; at += 1) {
    const row = [at];
    for (let column = 1; column <= to.length; column += 1) {
      const changed = distanceAt(last, column - 1) + Number(from[at - 1] !== to[column - 1]);
      const isSwap = from[at - 1] === to[column - 2] && from[at - 2] === to[column - 1];
      const swapped = isSwap ? distanceAt(beforeLast, column - 2) + 1 : Infinity;
      row.push(
        Math.min(distanceAt(last, column) + 1, distanceAt(row, column - 1) + 1, changed, swapped),
      );
    }
    [beforeLast, last] = [last, row];
  }
  return distanceAt(last, to.length);
}

function distanceAt(row: Row, index: number): number {
  return row[index] ?? Infinity;
}
