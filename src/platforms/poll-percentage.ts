/**
 * Returns the share of a poll choice in percent, rounded to one decimal place; `null` if `count` or
 * `total` is `null`.
 */
export function toPercentage(count: number | null, total: number | null): number | null {
  if (count === null || total === null) return null;
  return total === 0 ? 0 : Math.round((1000 * count) / total) / 10;
}
