import { setImmediate } from 'node:timers/promises';

const pauseAfterMs = 10;

/** Maps rows in order. Lets other tasks of the event loop run after every 10 ms of work. */
export async function mapWithPauses<Row, Result>(
  rows: readonly Row[],
  map: (row: Row) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let beginMs = performance.now();
  for (const row of rows) {
    results.push(map(row));
    if (performance.now() - beginMs < pauseAfterMs) continue;
    await setImmediate();
    beginMs = performance.now();
  }
  return results;
}

/** Maps rows with at most `max` calls of `map` in flight. Returns the results in order. */
export async function mapConcurrently<Row, Result>(
  rows: readonly Row[],
  max: number,
  map: (row: Row) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const waiting = rows.entries(); // shared, so that each row is taken once
  const work = async () => {
    for (const [at, row] of waiting) results[at] = await map(row);
  };
  await Promise.all(Array.from({ length: Math.min(max, rows.length) }, work));
  return results;
}
