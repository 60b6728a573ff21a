/**
 * Runs work with a signal that is aborted after `ms` milliseconds, or together with one of `signals`.
 *
 * The timer is held here until the work ends. `AbortSignal.any` over `AbortSignal.timeout` would not
 * do: Node 20 can collect a timeout that nobody else holds, and the signal is then never aborted.
 */
export async function withDeadline<Result>(
  ms: number,
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, ms);
  for (const signal of signals) {
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  }
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener('abort', abort);
  }
}
