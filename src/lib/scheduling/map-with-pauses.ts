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
