import type { Clock } from './clock.ts';

/** Minimum time in milliseconds between two log lines about the same fault. */
const intervalMs = 60_000;

type WriteLine = (fields: { readonly repeated?: number }) => void;

/** Writer of log lines that omits and counts those whose key was written in the last minute. */
export type RepeatedLines = (key: string, write: WriteLine) => void;

/** Creates the function that limits log lines. Callers use a bounded number of keys. */
export function createRepeatedLines(clock: Pick<Clock, 'now'>): RepeatedLines {
  const written = new Map<string, { readonly atMs: number; omitted: number }>();
  return (key, write) => {
    const atMs = clock.now();
    const last = written.get(key);
    if (last !== undefined && Math.abs(atMs - last.atMs) < intervalMs) {
      last.omitted += 1;
      return;
    }
    written.set(key, { atMs, omitted: 0 });
    const repeated = last?.omitted ?? 0;
    write(repeated === 0 ? {} : { repeated });
  };
}
