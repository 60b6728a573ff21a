/** Time range in Unix seconds. Both ends are inclusive. */
export interface SecondRange {
  /** First second of the range; `-Infinity` if the range has no lower bound. */
  readonly fromSecond: number;
  readonly toSecond: number;
}

/** Returns the parts of `whole` that no range in `others` covers, newest first. */
export function subtractRanges(
  whole: SecondRange,
  others: readonly SecondRange[],
): readonly SecondRange[] {
  const left: SecondRange[] = [];
  let { toSecond } = whole;
  for (const other of others.toSorted((a, b) => b.toSecond - a.toSecond)) {
    if (other.toSecond < whole.fromSecond) break;
    if (other.toSecond < toSecond) left.push({ fromSecond: other.toSecond + 1, toSecond });
    toSecond = Math.min(toSecond, other.fromSecond - 1);
  }
  return toSecond < whole.fromSecond || toSecond === Number.NEGATIVE_INFINITY
    ? left
    : [...left, { fromSecond: whole.fromSecond, toSecond }];
}

/** Merges time ranges that overlap or are adjacent. Returns them newest first. */
export function joinRanges(ranges: readonly SecondRange[]): readonly SecondRange[] {
  const joined: SecondRange[] = [];
  for (const range of ranges.toSorted((a, b) => b.toSecond - a.toSecond)) {
    const above = joined.at(-1);
    if (above === undefined || range.toSecond < above.fromSecond - 1) {
      joined.push({ fromSecond: range.fromSecond, toSecond: range.toSecond });
    } else if (range.fromSecond < above.fromSecond) {
      joined[joined.length - 1] = { ...above, fromSecond: range.fromSecond };
    }
  }
  return joined;
}

export function clipRanges(
  ranges: readonly SecondRange[],
  { fromSecond, toSecond }: SecondRange,
): readonly SecondRange[] {
  const clipped = ranges.map((range) => ({
    fromSecond: Math.max(range.fromSecond, fromSecond),
    toSecond: Math.min(range.toSecond, toSecond),
  }));
  return clipped.filter((range) => range.fromSecond <= range.toSecond);
}
