/** The most names that are proposed. */
const maxNames = 3;

/** The longest word that is compared; a longer one is like none of ours. */
const maxLength = 40;

/** Gives the names that somebody may have meant by a word: those that begin like it or differ little. */
export function findNear(word: string, names: readonly string[]): readonly string[] {
  const wanted = word.toLowerCase();
  if (wanted === '' || wanted.length > maxLength) return [];
  return names
    .map((name) => ({ name, distance: distanceOf(wanted, name) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, maxNames)
    .map(({ name }) => name);
}

/** A word that contains the other is as near as one letter. */
function distanceOf(a: string, b: string): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 3 && long.includes(short) ? 1 : countEdits(a, b);
}

/** Gives how many letters have to be added, dropped or replaced (Levenshtein distance). */
function countEdits(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...b].entries()) {
      const replaced = (previous[column] ?? 0) + (letter === other ? 0 : 1);
      const dropped = (previous[column + 1] ?? 0) + 1;
      current.push(Math.min(replaced, dropped, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
