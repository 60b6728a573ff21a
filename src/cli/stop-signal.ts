import { constants } from 'node:os';

const names = ['SIGINT', 'SIGTERM'] as const;

/** Calls `use` with an AbortSignal. The first SIGINT or SIGTERM aborts the AbortSignal; the second ends the process. */
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
 * If this process has the id 1, as in a container, adds listeners that end the process on SIGINT and SIGTERM. Without
 * listeners, Linux ignores these signals for process 1.
 */
export function exitOnSignalAsInit(): void {
  if (process.pid === 1) for (const name of names) process.on(name, end);
}

function end(name: NodeJS.Signals): void {
  process.exit(128 + constants.signals[name]);
}

type Listener = (name: NodeJS.Signals) => void;

/** Replaces a signal listener. The new listener is added before the old one is removed, so that no signal is missed. */
function replaceListener(old: Listener, next: Listener): void {
  for (const name of names) process.on(name, next).off(name, old);
}
