import type { Clock } from './options.ts';

/**
 * Timer that aborts a signal when it expires. Callers call `restart` to extend the time. They must
 * call `close` after the request.
 */
export interface Watchdog {
  readonly signal: AbortSignal;
  /** Whether the timer has expired and aborted the signal. */
  readonly isExpired: boolean;
  restart(ms: number): void;
  /** Stops the timer and aborts `signal`, which cancels the request if it is still running. */
  close(): void;
}

/**
 * Creates a signal, and a timer that aborts the signal after `ms` milliseconds. The signal is also
 * aborted if `outer` is aborted, with the same reason.
 */
export function openWatchdog(clock: Clock, ms: number, outer?: AbortSignal): Watchdog {
  const stop = new AbortController();
  const onAbort = () => stop.abort(outer?.reason);
  let timer = new AbortController();
  let isExpired = false;
  const start = (waitMs: number) => {
    clock.sleep(waitMs, timer.signal).then(
      () => {
        isExpired = true;
        stop.abort(new Error('The time ran out.'));
      },
      () => undefined, // restarted or closed
    );
  };
  if (outer?.aborted) onAbort();
  outer?.addEventListener('abort', onAbort, { once: true });
  start(ms);
  return {
    signal: stop.signal,
    get isExpired() {
      return isExpired;
    },
    restart: (waitMs) => {
      timer.abort();
      timer = new AbortController();
      start(waitMs);
    },
    close: () => {
      timer.abort();
      outer?.removeEventListener('abort', onAbort);
      stop.abort();
    },
  };
}
