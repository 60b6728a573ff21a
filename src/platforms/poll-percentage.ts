/** Returns the share in percent, rounded to one decimal place; `null` if a count is `null`. */
export function toPercentage(count: number | null, total: number | null): number | null {
  if (count === null || total === null) return null;
  return total === 0 ? 0 : Math.round((1000 * count) / total) / 10;
}
