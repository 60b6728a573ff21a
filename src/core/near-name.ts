import { editDistance } from './edit-distance.ts';

/**
 * Returns the name that a word is most likely a misspelling of: one or two letters added, left out,
 * changed or swapped, and fewer than half of them. Undefined if there is none.
 */
export function nearestName(word: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let most = Math.min(2, Math.floor((word.length - 1) / 2));
  for (const name of names) {
    const distance = editDistance(word.toLowerCase(), name, most);
    if (distance <= most) [nearest, most] = [name, distance - 1];
  }
  return nearest;
}
