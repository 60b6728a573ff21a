/** Returns the votes of a poll choice as a percentage with one decimal, or `null` while a count is hidden. */
export function toPercentage(count: number | null, total: number | null): number | null {
  if (count === null || total === null) return null;
  return total === 0 ? 0 : Math.round((1000 * count) / total) / 10;
}
