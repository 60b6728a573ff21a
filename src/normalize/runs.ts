/** Range in code points; `end` is exclusive. `nestRuns` never splits one with a `url` (a link). */
export interface Run {
  readonly start: number;
  readonly end: number;
  readonly url?: string | undefined;
}

/**
 * Sorts ranges by `start`, longer ones first, and splits styled ranges so that any two are nested
 * or disjoint. Drops ranges outside `[0, length]`, links that overlap an earlier link, and styles
 * nested more than 16 levels deep.
 */
export function nestRuns<R extends Run>(runs: readonly R[], length: number): readonly R[] {
  const sorted = runs
    .filter(({ start, end }) => start >= 0 && start < end && end <= length)
    .sort(inOrder);
  const links: R[] = [];
  for (const run of sorted) {
    if (isLink(run) && run.start >= (links.at(-1)?.end ?? 0)) links.push(run);
  }
  const styles = sorted.filter((run) => !isLink(run)).flatMap((run) => cutAtLink(run, links));
  return nest([...links, ...styles]);
}

const isLink = ({ url }: Run): boolean => url !== undefined;

const inOrder = (a: Run, b: Run): number => a.start - b.start || b.end - a.end;

function cutAtLink<R extends Run>(run: R, links: readonly R[]): readonly R[] {
  const last = lastWhere(links, (link) => link.start < run.end);
  if (last === undefined || last.start <= run.start || last.end <= run.end) return [run];
  return [
    { ...run, end: last.start },
    { ...run, start: last.start },
  ];
}

const maxDepth = 16;

/**
 * Splits styled ranges at the end of earlier ranges, so that all are nested. The caller must ensure
 * that no link partly overlaps another range.
 */
function nest<R extends Run>(runs: readonly R[]): readonly R[] {
  const waiting = runs.toSorted((a, b) => inOrder(b, a)); // the last is next
  const nested: R[] = [];
  const openEnds: number[] = [];
  for (let run = waiting.pop(); run !== undefined; run = waiting.pop()) {
    const { start } = run;
    while ((openEnds.at(-1) ?? Number.POSITIVE_INFINITY) <= start) openEnds.pop();
    if (openEnds.length >= maxDepth && !isLink(run)) continue;
    const end = Math.min(run.end, openEnds.at(-1) ?? run.end);
    const rest = { ...run, start: end };
    if (end < run.end) {
      waiting.splice(waiting.findLastIndex((other) => inOrder(other, rest) > 0) + 1, 0, rest);
    }
    nested.push({ ...run, end });
    openEnds.push(end);
  }
  return nested;
}

/** Finds the last match by binary search: all items that match must precede the others. */
export function lastWhere<T>(list: readonly T[], isBefore: (item: T) => boolean): T | undefined {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = list[middle];
    if (item !== undefined && isBefore(item)) low = middle + 1;
    else high = middle;
  }
  return list[low - 1];
}
