import { constants } from 'node:os';

const names = ['SIGINT', 'SIGTERM'] as const;

/** Calls `use` with an AbortSignal. The first SIGINT or SIGTERM aborts it (reason: its name), and the second exits. */
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
 * Adds listeners that exit on SIGINT and SIGTERM if the process has id 1, as in a container, where Linux ignores these
 * signals otherwise. Other processes get no listeners: the default action ends them even if JavaScript is busy.
 */
export function exitOnSignalAsInit(): void {
  if (process.pid === 1) for (const name of names) process.on(name, end);
}

/** Exits with the code that shells use for a process ended by a signal: 128 plus the signal number. */
function end(name: NodeJS.Signals): void {
  process.exit(128 + constants.signals[name]);
}

type Listener = (name: NodeJS.Signals) => void;

/** Replaces a signal listener. The new one is added first, so that no signal arrives without a listener. */
function replaceListener(old: Listener, next: Listener): void {
  for (const name of names) process.on(name, next).off(name, old);
}
