/**
 * Runs `use` with a signal that SIGINT and SIGTERM set off, so that it can come to an end by itself. A
 * second one of them ends the process at once.
 */
export async function withStopSignal<Result>(
  use: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  const names = ['SIGINT', 'SIGTERM'] as const;
  for (const name of names) process.once(name, abort);
  try {
    return await use(stop.signal);
  } finally {
    for (const name of names) process.off(name, abort);
  }
}
