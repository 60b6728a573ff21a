import { constants } from 'node:os';

const names = ['SIGINT', 'SIGTERM'] as const;

/** Calls `use`. The first SIGINT or SIGTERM aborts its signal; the second ends the process. */
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

/** Ends process 1 on SIGINT and SIGTERM, which Linux ignores there without listeners. */
export function exitOnSignalAsInit(): void {
  if (process.pid === 1) for (const name of names) process.on(name, end);
}

function end(name: NodeJS.Signals): void {
  process.exit(128 + constants.signals[name]);
}

type Listener = (name: NodeJS.Signals) => void;

/** Adds the new listener before it removes the old one, so that no signal is missed. */
function replaceListener(old: Listener, next: Listener): void {
  for (const name of names) process.on(name, next).off(name, old);
}
