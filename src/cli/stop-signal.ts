import { constants } from 'node:os';

const names = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs `use` with a signal that SIGINT and SIGTERM abort; the reason is the name of the signal. A second
 * one ends the process at once.
 */
export async function withStopSignal<Result>(
  use: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  const abort = (name: NodeJS.Signals) => {
    replaceListener(abort, end);
    stop.abort(name);
  };
  replaceListener(end, abort);
  try {
    return await use(stop.signal);
  } finally {
    for (const name of names) process.off(name, abort).off(name, end);
  }
}

/**
 * Makes SIGINT and SIGTERM end the process at once if it is the first of its container: there the system
 * ignores signals without a listener, elsewhere it ends the process even while JavaScript is busy.
 */
export function endAtOnceWhereFirst(): void {
  if (process.pid === 1) for (const name of names) process.on(name, end);
}

/** Ends the process with the exit code that shells give to a process ended by a signal. */
function end(name: NodeJS.Signals): void {
  process.exit(128 + constants.signals[name]);
}

type Listener = (name: NodeJS.Signals) => void;

/** The new listener comes first: without any, a signal that has arrived would be lost. */
function replaceListener(old: Listener, next: Listener): void {
  for (const name of names) process.on(name, next).off(name, old);
}
