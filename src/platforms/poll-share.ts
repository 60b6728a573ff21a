/** Returns the share of a poll's choice in percent with one decimal; `null` while a count is hidden. */
export function shareOf(count: number | null, total: number | null): number | null {
  if (count === null || total === null) return null;
  return total === 0 ? 0 : Math.round((1000 * count) / total) / 10;
}
