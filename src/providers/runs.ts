/** A half-open run of text in Unicode code points. A run with a `url` is a link and stays whole. */
export interface Run {
  readonly start: number;
  readonly end: number;
  readonly url?: string | undefined;
}

/**
 * Sorts runs by `start` (the longer first) and makes them nest: what is out of `[0, length]` is
 * dropped, a link that overlaps an earlier link is dropped, and a style that crosses another run is
 * cut at its border.
 */
export function settleRuns<R extends Run>(runs: readonly R[], length: number): readonly R[] {
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

function isLink({ url }: Run): boolean {
  return url !== undefined;
}

function inOrder(a: Run, b: Run): number {
  return a.start - b.start || b.end - a.end;
}

/** Cuts a style where a link begins that it covers only in part: links stay whole. */
function cutAtLink<R extends Run>(run: R, links: readonly R[]): readonly R[] {
  const last = lastWhere(links, (link) => link.start < run.end);
  if (last === undefined || last.start <= run.start || last.end <= run.end) return [run];
  return [
    { ...run, end: last.start },
    { ...run, start: last.start },
  ];
}

/** Cuts runs that cross an earlier one at its end. Of those, all are styles. */
function nest<R extends Run>(runs: readonly R[]): readonly R[] {
  const waiting = runs.toSorted((a, b) => inOrder(b, a));
  const nested: R[] = [];
  const openEnds: number[] = [];
  for (let run = waiting.pop(); run !== undefined; run = waiting.pop()) {
    while ((openEnds.at(-1) ?? Number.POSITIVE_INFINITY) <= run.start) openEnds.pop();
    const end = Math.min(run.end, openEnds.at(-1) ?? run.end);
    if (end < run.end) putBack(waiting, { ...run, start: end });
    nested.push({ ...run, end });
    openEnds.push(end);
  }
  return nested;
}

/** Puts a run at its place among those that wait, the next one last. */
function putBack<R extends Run>(waiting: R[], run: R): void {
  const later = waiting.findLastIndex((other) => inOrder(other, run) > 0);
  waiting.splice(later + 1, 0, run);
}

/** Gives the last member for which `holds`, in a list where it holds for a beginning and no further. */
export function lastWhere<T>(list: readonly T[], holds: (member: T) => boolean): T | undefined {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const member = list[middle];
    if (member !== undefined && holds(member)) low = middle + 1;
    else high = middle;
  }
  return list[low - 1];
}
