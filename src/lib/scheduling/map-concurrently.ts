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
